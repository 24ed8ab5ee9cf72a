#include "service/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "cluster/methods.h"
#include "data/auto_shard.h"
#include "data/dataset_graph.h"
#include "data/parallel.h"
#include "data/saved_state.h"
#include "graph/parse_message.h"

namespace emplace::service {
namespace {

using cluster::to_bytes;
using data::DatasetPtr;
using data::Element;

std::mutex here_mutex;
std::multiset<std::string>& here() {
  static auto* const addresses = new std::multiset<std::string>;
  return *addresses;
}

// What the dispatcher deals out to the workers of an iteration.
class RemoteSplits final : public data::SplitProvider {
 public:
  RemoteSplits(std::shared_ptr<Remote> dispatcher, uint64_t iteration)
      : dispatcher_(std::move(dispatcher)), iteration_(iteration) {}
  int64_t next(data::Caller& c, int source, int64_t round) override {
    proto::NextSplitRequest r;
    r.set_iteration(iteration_);
    r.set_source(source);
    r.set_round(round);
    return dispatcher_->ask<proto::NextSplitResponse>(c.scope, "NextSplit", r).number();
  }

 private:
  const std::shared_ptr<Remote> dispatcher_;
  const uint64_t iteration_;
};

data::ShardPolicy shard_policy(Sharding s) {
  switch (s) {
    case Sharding::kFile:
      return data::ShardPolicy::kFile;
    case Sharding::kData:
      return data::ShardPolicy::kData;
    case Sharding::kFileOrData:
      return data::ShardPolicy::kAuto;
    case Sharding::kHint:
      return data::ShardPolicy::kHint;
    default:
      return data::ShardPolicy::kOff;
  }
}

bool always_packed(const std::string& metadata) {
  proto::DataServiceMetadata m;
  return parse_message(m, metadata) &&
         m.compression() == proto::DataServiceMetadata::COMPRESSION_FORCED_SNAPPY;
}

bool sometimes_packed(const std::string& metadata) {
  proto::DataServiceMetadata m;
  return parse_message(m, metadata) &&
         m.compression() == proto::DataServiceMetadata::COMPRESSION_SNAPPY;
}

}  // namespace

// A dataset being gone through for readers. Any thread may ask.
class Worker::Task {
 public:
  // `life`: of the worker.
  Task(uint64_t id, std::shared_ptr<Remote> dispatcher, CallScope& life)
      : id_(id), dispatcher_(std::move(dispatcher)), life_(life) {}

  // Its dataset; whoever comes meanwhile waits, whoever comes after a failure tries again.
  void prepare(CallScope& scope) {
    elements_.once([&] {
      const auto def = find(scope);
      if (ended_) return;
      proto::FindDatasetRequest wanted;
      wanted.set_id(def.dataset());
      const auto found = dispatcher_->ask<proto::FindDatasetResponse>(scope, "FindDataset", wanted);
      const auto policy = static_cast<Sharding>(def.parameters().policy());
      const auto graph = data::imported(found.graph());
      if (is_static(policy))
        data::auto_shard(*graph, def.shards(), def.shard(), shard_policy(policy));
      always_packed_ = always_packed(found.metadata());
      sometimes_packed_ = sometimes_packed(found.metadata());
      consumers_ = def.parameters().consumers();
      DatasetPtr dataset = data::dataset_of(graph);
      if (consumers_ == 0) dataset = data::prefetched(std::move(dataset));
      elements_.begin(std::move(dataset),
                      policy == Sharding::kDynamic
                          ? std::make_shared<RemoteSplits>(dispatcher_, def.iteration())
                          : nullptr);
    });
  }

  bool next(CallScope& scope, int64_t consumer, int64_t round, Element& out) {
    if (consumers_ > 0) return next_of_round(scope, consumer, round, out);
    if (!ended_ && elements_.next(scope, out)) return true;
    end();
    return false;
  }

  bool packs(const cluster::Caller& reader) const {
    return always_packed_ || (sometimes_packed_ && reader.kind != cluster::Caller::Kind::kSameUser);
  }

 private:
  // What the dispatcher wants done; ended: no more.
  proto::FindTaskResponse find(CallScope& scope) {
    proto::FindTaskRequest r;
    r.set_task(id_);
    try {
      return dispatcher_->ask<proto::FindTaskResponse>(scope, "FindTask", r);
    } catch (const Error& e) {
      if (e.code() != Code::kNotFound) throw;
      ended_ = true;
      return {};
    }
  }

  // Rounds of as many elements as there are consumers; each has its own of each.
  bool next_of_round(CallScope& scope, int64_t consumer, int64_t round, Element& out) {
    const std::lock_guard lock(mutex_);
    if (consumer < 0 || consumer >= consumers_)
      throw invalid_argument(fmt::format("There is no consumer {} of {}.", consumer, consumers_));
    while (rounds_made_ <= round) {
      std::vector<Element> made(static_cast<size_t>(consumers_));
      for (Element& e : made)
        if (!elements_.next(scope, e))
          throw failed_precondition(
              "Encountered end of sequence on a round-robin read iteration. Please ensure that the "
              "dataset used for "
              "round-robin reading has infinite cardinality, e.g. by adding a .repeat() "
              "transformation at the end.");
      rounds_[rounds_made_++] = {std::move(made), consumers_};
    }
    const auto it = rounds_.find(round);
    if (it == rounds_.end()) throw failed_precondition(fmt::format("Round {} is over.", round));
    out = std::move(it->second.elements[static_cast<size_t>(consumer)]);
    if (--it->second.left == 0) rounds_.erase(it);
    return true;
  }

  // The dispatcher knows before any reader does.
  void end() {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    proto::EndTaskRequest r;
    r.set_task(id_);
    dispatcher_->ask<proto::EndTaskRequest>(life_, "EndTask", r);
    ended_ = true;
  }

  struct Round {
    std::vector<Element> elements;
    int64_t left = 0;
  };
  const uint64_t id_;
  const std::shared_ptr<Remote> dispatcher_;
  CallScope& life_;
  std::atomic<bool> ended_{false};
  data::IteratorResource elements_{"task", {}, {}};
  int64_t consumers_ = 0;
  bool always_packed_ = false, sometimes_packed_ = false;
  std::mutex mutex_;  // guards what follows
  std::map<int64_t, Round> rounds_;
  int64_t rounds_made_ = 0;
};

Worker::Worker(const DataWorkerOptions& options, cluster::Transport& transport)
    : options_(options), dispatcher_(std::make_shared<Remote>(transport, options.dispatcher)) {}

Worker::~Worker() { stop(); }

bool Worker::is_here(const std::string& address) {
  const std::lock_guard lock(here_mutex);
  return here().contains(address);
}

void Worker::begin(const std::string& address) {
  address_ = address;
  proto::RegisterWorkerRequest r;
  r.set_address(address_);
  number_ = dispatcher_->ask<proto::RegisterWorkerResponse>(life_, "RegisterWorker", r).worker();
  {
    const std::lock_guard lock(here_mutex);
    here().insert(address_);
  }
  watcher_ = std::thread([this] { stay_known(); });
}

void Worker::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  life_.cancel({Code::kUnavailable, "The worker is stopping."});
  over_.notify_all();
  if (watcher_.joinable()) {
    watcher_.join();
    const std::lock_guard lock(here_mutex);
    here().erase(here().find(address_));
  }
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

int Worker::num_tasks() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(tasks_.size());
}

// ---- With readers.

void Worker::call(std::shared_ptr<IncomingCall> call) {
  const auto serve = [this, call] {
    const auto scope = std::make_shared<CallScope>();
    call->on_cancel([scope] { scope->cancel(cancelled("The reader no longer waits.")); });
    answer_by(*call, [&] { return next_element(*call, *scope); });
  };
  if (call->may_wait())
    serve();
  else
    threads_.run(serve);
}

Bytes Worker::next_element(IncomingCall& call, CallScope& scope) {
  if (call.method() != std::string(cluster::kDataService) + "NextElement")
    throw unimplemented(fmt::format("{} is not served by a worker.", call.method()));
  const auto r = cluster::parsed<proto::NextElementRequest>(call.request());
  const auto asked = task(r.task());
  asked->prepare(scope);
  proto::NextElementResponse out;
  Element e;
  const auto failure =
      cluster::failure_of([&] { out.set_ended(!asked->next(scope, r.consumer(), r.round(), e)); });
  scope.check();
  if (failure) {
    cluster::to_proto(*failure, out.mutable_error());
    return to_bytes(out, {});
  }
  const bool plain = std::ranges::all_of(e, [](const Tensor& t) {
    return t.dtype() != DType::kVariant && t.dtype() != DType::kResource && t.device() == nullptr;
  });
  if (!e.empty() && (!plain || asked->packs(call.caller()))) {
    out.set_packed(true);
    e = {Tensor::string(data::packed_element(e))};
  }
  for (const Tensor& t : e) cluster::describe(t, out.add_value());
  return to_bytes(out, e);
}

std::shared_ptr<Worker::Task> Worker::task(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw Error(Code::kUnavailable, "The worker is stopping.");
  auto& known = tasks_[id];
  if (!known) known = std::make_shared<Task>(id, dispatcher_, life_);
  return known;
}

// ---- With the dispatcher.

void Worker::stay_known() {
  uint64_t version = 0;
  constexpr int64_t kHour = 3600 * 1000;
  const auto patience = std::chrono::milliseconds(
      options_.dispatcher_timeout_ms > 0 ? options_.dispatcher_timeout_ms : kHour);
  auto heard = Clock::now();
  while (!life_.cancelled()) {
    const auto failure = cluster::failure_of([&] { watch(version); });
    if (!failure) {
      heard = Clock::now();
      continue;
    }
    if (life_.cancelled() || Clock::now() - heard > patience) break;
    std::unique_lock lock(mutex_);
    over_.wait_for(lock, std::chrono::milliseconds(100), [&] { return stopped_; });
  }
}

// Comes back when the dispatcher has something to tell; where it forgot this worker, makes itself
// known.
void Worker::watch(uint64_t& version) {
  proto::WatchWorkerRequest r;
  r.set_worker(number_);
  r.set_version(version);
  try {
    const auto news = cluster::parsed<proto::WatchWorkerResponse>(
        dispatcher_->call(life_, "WatchWorker", to_bytes(r)));
    version = news.version();
    drop_others(news);
  } catch (const Error& e) {
    if (e.code() != Code::kNotFound) throw;
    proto::RegisterWorkerRequest again;
    again.set_address(address_);
    number_ =
        dispatcher_->ask<proto::RegisterWorkerResponse>(life_, "RegisterWorker", again).worker();
    version = 0;
  }
}

void Worker::drop_others(const proto::WatchWorkerResponse& known) {
  const std::set<uint64_t> go_on(known.task().begin(), known.task().end());
  std::vector<std::shared_ptr<Task>> over;  // go without the lock
  const std::lock_guard lock(mutex_);
  for (auto it = tasks_.begin(); it != tasks_.end();) {
    if (it->first > known.newest() || go_on.contains(it->first)) {
      ++it;
      continue;
    }
    over.push_back(std::move(it->second));
    it = tasks_.erase(it);
  }
}

}  // namespace emplace::service
