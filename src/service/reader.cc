#include "service/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/transport.h"
#include "data/saved_state.h"
#include "data/state.h"
#include "service/worker.h"

namespace emplace::service {

using cluster::to_bytes;
using data::Caller;
using data::Element;

namespace {

constexpr int64_t kLeastWaiting = 16, kPerWorker = 4;
constexpr std::chrono::milliseconds kRetry{100};

Error no_local_worker() {
  return failed_precondition(
      "Local reads require local tf.data workers, but no local worker is found. You need to run "
      "tf.data service workers "
      "in the processes that read.");
}

}  // namespace

Reader::Reader(data::DatasetPtr self, const ReadOptions& options, int64_t repetition, Caller& c)
    : self_(std::move(self)),
      options_(options),
      dispatcher_(std::make_shared<Remote>(cluster::socket_transport(), options.address)),
      scope_(c.pass) {
  proto::OpenIterationRequest r;
  r.set_dataset(options_.dataset);
  r.set_job(options_.job);
  r.set_repetition(repetition);
  r.set_anonymous(options_.anonymous);
  *r.mutable_parameters() = options_.parameters;
  const auto opened = dispatcher_->ask<proto::OpenIterationResponse>(c.scope, "OpenIteration", r);
  iteration_ = opened.iteration();
  reader_ = opened.reader();
}

Reader::~Reader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  scope_.end();
  changed_.notify_all();
  watcher_.reset();
  sources_.clear();
  proto::CloseIterationRequest r;
  r.set_iteration(iteration_);
  r.set_reader(reader_);
  dispatcher_->tell("CloseIteration", r);
}

bool Reader::ready() const {
  const std::lock_guard lock(mutex_);
  return !made_.empty() || is_over();
}

bool Reader::is_over() const {
  return finished_ && std::ranges::all_of(sources_, [](const auto& s) { return s.second.over; });
}

bool Reader::next(Caller& c, Element& out) {
  std::unique_lock lock(mutex_);
  if (!watcher_) begin();
  if (options_.consumer >= 0) {
    lock.unlock();
    return next_of_round(c, out);
  }
  c.wait(changed_, lock, [&] { return !made_.empty() || is_over(); });
  if (made_.empty()) return false;
  Made one = std::move(made_.front());
  made_.pop_front();
  lock.unlock();
  changed_.notify_all();
  if (one.error) throw *std::move(one.error);
  out = std::move(one.element);
  return true;
}

void Reader::begin() {
  watcher_ = std::make_unique<data::StageThread>("data_watch", [this] { watch(); });
}

// ---- With the dispatcher.

void Reader::watch() {
  uint64_t version = 0;
  std::unique_lock lock(mutex_);
  while (!stopped_ && !finished_) {
    lock.unlock();
    proto::WatchIterationRequest r;
    r.set_iteration(iteration_);
    r.set_reader(reader_);
    r.set_version(version);
    proto::WatchIterationResponse news;
    const auto failure = cluster::failure_of([&] {
      news = cluster::parsed<proto::WatchIterationResponse>(
          dispatcher_->call(scope_.calls, "WatchIteration", to_bytes(r)));
    });
    lock.lock();
    if (failure && failure->code() == Code::kUnavailable) {  // it may come back
      changed_.wait_for(lock, kRetry, [&] { return stopped_; });
    } else if (failure) {
      fail(*failure);
    } else {
      version = news.version();
      learn(news);
    }
  }
}

void Reader::fail(const Error& e) {
  if (stopped_) return;
  made_.push_back({{}, e});
  finished_ = true;
  changed_.notify_all();
}

void Reader::learn(const proto::WatchIterationResponse& news) {
  told_ = true;
  listed_.clear();
  bool some = false;
  for (const auto& t : news.task()) {
    listed_.insert(t.id());
    if (options_.parameters.target_workers() == "LOCAL" && !Worker::is_here(t.address())) continue;
    some = true;
    if (sources_.contains(t.id())) continue;
    Source& s = sources_[t.id()];
    s.task = t.id();
    s.address = t.address();
    if (options_.consumer >= 0)
      s.over = true;
    else
      s.thread = std::make_unique<data::StageThread>("data_read", [this, &s] { read(s); });
  }
  if (!some && news.task_size() > 0 && sources_.empty()) return fail(no_local_worker());
  finished_ = news.finished();
  changed_.notify_all();
}

// ---- With a worker.

bool Reader::has_room() const {
  const int64_t most =
      options_.most_waiting > 0
          ? options_.most_waiting
          : std::max(kLeastWaiting, kPerWorker * static_cast<int64_t>(sources_.size()));
  return asked_ + static_cast<int64_t>(made_.size()) < most;
}

std::optional<Reader::Made> Reader::ask(CallScope& scope, Remote& worker, uint64_t task,
                                        int64_t round) {
  proto::NextElementRequest r;
  r.set_task(task);
  r.set_consumer(options_.consumer);
  r.set_round(round);
  const Bytes body = worker.call(scope, "NextElement", to_bytes(r));
  cluster::BytesReader reader(body);
  proto::NextElementResponse in;
  cluster::parse_head(reader, in);
  if (in.has_error()) return Made{{}, cluster::from_proto(in.error())};
  if (in.ended()) return {};
  Made made;
  for (const auto& v : in.value()) made.element.push_back(cluster::read_tensor(reader, v));
  if (in.packed())
    made.element = data::unpacked_element(made.element.at(0).values<std::string>()[0]);
  // A program of TensorFlow's compresses elements itself.
  if (made.element.size() == 1 && made.element[0].dtype() == DType::kVariant &&
      self_->spec().types != std::vector{DType::kVariant})
    made.element = data::unpacked_element(made.element[0]);
  return made;
}

void Reader::read(Source& source) {
  Remote worker(cluster::socket_transport(), source.address);
  std::unique_lock lock(mutex_);
  while (!stopped_ && !source.over) {
    changed_.wait(lock, [&] { return stopped_ || has_room(); });
    if (stopped_) break;
    ++asked_;
    lock.unlock();
    std::optional<Made> made;
    const auto failure =
        cluster::failure_of([&] { made = ask(scope_.calls, worker, source.task, 0); });
    lock.lock();
    --asked_;
    if (stopped_) break;
    if (failure && failure->code() == Code::kUnavailable) {
      // The worker is gone for good when the dispatcher says so.
      changed_.wait_for(lock, kRetry, [&] { return stopped_ || !listed_.contains(source.task); });
      source.over = !listed_.contains(source.task);
    } else if (failure) {
      made_.push_back({{}, *failure});
      source.over = true;
    } else if (made) {
      made_.push_back(*std::move(made));
    } else {
      source.over = true;
    }
    changed_.notify_all();
  }
}

// Each round is another worker's turn; all consumers know their order.
bool Reader::next_of_round(Caller& c, Element& out) {
  std::pair<uint64_t, std::shared_ptr<Remote>> turn;
  {
    std::unique_lock lock(mutex_);
    c.wait(changed_, lock, [&] { return !made_.empty() || finished_ || !listed_.empty(); });
    if (!made_.empty()) throw *made_.front().error;
    if (turns_.empty())
      for (const auto& [task, s] : sources_)
        turns_.emplace_back(task, std::make_shared<Remote>(cluster::socket_transport(), s.address));
    if (turns_.empty()) return false;
    turn = turns_[static_cast<size_t>(round_) % turns_.size()];
    if (!listed_.contains(turn.first))
      throw Error(Code::kUnavailable, fmt::format("The worker at {} has gone, whose turn it is: "
                                                  "all who read in rounds must begin again.",
                                                  turn.second->address()));
  }
  const auto made =
      ask(c.scope, *turn.second, turn.first, round_ / static_cast<int64_t>(turns_.size()));
  if (!made)
    throw Error(Code::kUnavailable, "The iteration is over on the worker whose turn it is.");
  if (made->error) throw *made->error;
  ++round_;
  out = made->element;
  return true;
}

void Reader::save(data::StateWriter&) {
  throw unimplemented("Where an iterator over a service's dataset is can't be saved.");
}

void Reader::restore(Caller&, data::StateReader&) {
  throw unimplemented("Where an iterator over a service's dataset is can't be restored.");
}

}  // namespace emplace::service
