#include "service/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "cluster/methods.h"
#include "service/remote.h"

namespace emplace::service {
namespace {

using cluster::parsed;
using cluster::to_bytes;

constexpr std::chrono::milliseconds kCheck = std::chrono::minutes(10),
                                    kKept = std::chrono::minutes(5);
// Of a worker that was told something and has not come back.
constexpr std::chrono::milliseconds kMissed = std::chrono::seconds(5);
constexpr std::string_view kAnyPort = "%port%";

Error stopping() { return {Code::kUnavailable, "The dispatcher is stopping."}; }

std::string words_of(const proto::JobParameters& p) {
  return fmt::format("sharding policy {}, {} consumers, target workers {}, trainer '{}'",
                     p.policy(), p.consumers(), p.target_workers(), p.trainer());
}

// Is the worker at `address` meant by `configured`?
bool is_meant(std::string_view configured, std::string_view address) {
  const auto host = [](std::string_view a) { return a.substr(0, a.rfind(':')); };
  if (configured.find(':') == std::string_view::npos) return configured == host(address);
  if (configured.ends_with(kAnyPort)) return host(configured) == host(address);
  return configured == address;
}

}  // namespace

Dispatcher::Dispatcher(const DataDispatcherOptions& options)
    // Numbers differ from those of a dispatcher before it: tasks of that one are no tasks of this
    // one.
    : options_(options),
      last_id_(uint64_t{std::random_device()()} << 24),
      timekeeper_([this] { keep_time(); }) {}

Dispatcher::~Dispatcher() {
  stop();
  timekeeper_.join();
}

void Dispatcher::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  for (auto& [id, it] : iterations_)
    for (auto& [reader, r] : it.readers)
      if (r.watch) later(std::move(r.watch), {stopping(), {}});
  for (auto& [id, w] : workers_)
    if (w.watch) later(std::move(w.watch), {stopping(), {}});
  wake_.notify_all();
  send_answers(lock);
}

int Dispatcher::num_workers() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& w) { return !w.second.gone; }));
}

// ---- Calls.

void Dispatcher::call(std::shared_ptr<IncomingCall> call) {
  std::string_view method = call->method();
  method.remove_prefix(std::min(method.size(), cluster::kDataService.size()));
  if (method == "WatchIteration" || method == "WatchWorker") {
    const bool readers = method == "WatchIteration";
    if (const auto failure =
            cluster::failure_of([&] { readers ? watch_iteration(call) : watch_worker(call); }))
      call->answer({*failure, {}});
    return;
  }
  answer_by(*call, [&] { return answer_of(method, *call); });
}

Bytes Dispatcher::answer_of(std::string_view method, IncomingCall& call) {
  const Bytes& in = call.request();
  std::unique_lock lock(mutex_);
  if (stopped_) throw stopping();
  Bytes out;
  if (method == "RegisterDataset")
    out = register_dataset(parsed<proto::RegisterDatasetRequest>(in));
  else if (method == "FindDataset")
    out = find_dataset(parsed<proto::FindDatasetRequest>(in));
  else if (method == "OpenIteration")
    out = open_iteration(parsed<proto::OpenIterationRequest>(in));
  else if (method == "CloseIteration")
    out = close_iteration(parsed<proto::CloseIterationRequest>(in));
  else if (method == "RegisterWorker")
    out = register_worker(parsed<proto::RegisterWorkerRequest>(in));
  else if (method == "FindTask")
    out = find_task(parsed<proto::FindTaskRequest>(in));
  else if (method == "EndTask")
    out = end_task(parsed<proto::EndTaskRequest>(in));
  else if (method == "NextSplit")
    out = next_split(parsed<proto::NextSplitRequest>(in));
  else
    throw unimplemented(fmt::format("{} is not served by a dispatcher.", call.method()));
  send_answers(lock);
  return out;
}

Bytes Dispatcher::register_dataset(const proto::RegisterDatasetRequest& r) {
  std::string id = r.wanted_id();
  while (id.empty() || (r.wanted_id().empty() && datasets_.contains(id)))
    id = std::to_string(1000 + datasets_.size());
  const auto [it, is_new] = datasets_.try_emplace(id, Dataset{r.graph(), r.metadata()});
  if (!is_new && it->second.metadata != r.metadata())
    throw invalid_argument(
        fmt::format("Datasets with the same ID should have the same structure, but the one "
                    "registered as {} has another.",
                    id));
  proto::RegisterDatasetResponse out;
  out.set_id(id);
  return to_bytes(out);
}

Bytes Dispatcher::find_dataset(const proto::FindDatasetRequest& r) {
  const auto it = datasets_.find(r.id());
  if (it == datasets_.end()) throw not_found(fmt::format("Dataset id {} not found", r.id()));
  proto::FindDatasetResponse out;
  if (!r.without_graph()) out.set_graph(it->second.graph);
  out.set_metadata(it->second.metadata);
  return to_bytes(out);
}

Dispatcher::Job& Dispatcher::job(const proto::OpenIterationRequest& r) {
  const auto [it, is_new] =
      jobs_.try_emplace(r.job(), Job{r.dataset(), r.parameters(), r.anonymous(), {}});
  Job& job = it->second;
  if (!is_new && job.parameters.SerializeAsString() != r.parameters().SerializeAsString())
    throw invalid_argument(
        fmt::format("Tried to create job with name {}, but found an existing job with different "
                    "parameters: {}, not {}.",
                    r.job(), words_of(job.parameters), words_of(r.parameters())));
  return job;
}

Bytes Dispatcher::open_iteration(const proto::OpenIterationRequest& r) {
  if (!datasets_.contains(r.dataset()))
    throw not_found(fmt::format("Dataset id {} not found", r.dataset()));
  const auto policy = static_cast<Sharding>(r.parameters().policy());
  if (is_static(policy) && options_.workers.empty())
    throw not_found(
        "Static sharding (FILE, DATA, FILE_OR_DATA, HINT) needs a dispatcher that knows all of its "
        "workers: name them "
        "in `worker_addresses` of its DispatcherConfig.");
  Job& of = job(r);
  const auto [known, is_new] = of.iterations.try_emplace(r.repetition(), last_id_ + 1);
  if (is_new) {
    Iteration& made = iterations_[++last_id_];
    made.job = r.job();
    made.repetition = r.repetition();
    for (const auto& [id, w] : workers_)
      if (!w.gone) add_task(known->second, id);
  }
  proto::OpenIterationResponse out;
  out.set_iteration(known->second);
  out.set_reader(++last_id_);
  if (const auto it = iterations_.find(known->second); it != iterations_.end())
    it->second.readers[out.reader()];
  return to_bytes(out);
}

Bytes Dispatcher::close_iteration(const proto::CloseIterationRequest& r) {
  leave(r.iteration(), r.reader());
  return to_bytes(proto::CloseIterationRequest());
}

Bytes Dispatcher::register_worker(const proto::RegisterWorkerRequest& r) {
  for (auto& [id, w] : workers_)  // started anew
    if (w.address == r.address() && !w.gone) lose(id);
  const int index = index_for(r.address());
  const uint64_t id = ++last_id_;
  workers_[id].address = r.address();
  workers_[id].index = index;
  for (auto& [number, it] : iterations_) {
    const bool in_rounds = jobs_.at(it.job).parameters.consumers() > 0;
    if (!it.finished && (!in_rounds || (it.tasks.empty() && !it.some_ended))) add_task(number, id);
  }
  proto::RegisterWorkerResponse out;
  out.set_worker(id);
  return to_bytes(out);
}

int Dispatcher::index_for(const std::string& address) const {
  for (size_t i = 0; i < options_.workers.size(); ++i) {
    const bool taken = std::ranges::any_of(workers_, [&](const auto& w) {
      return !w.second.gone && w.second.index == static_cast<int>(i);
    });
    if (!taken && is_meant(options_.workers[i], address)) return static_cast<int>(i);
  }
  if (options_.workers.empty()) return -1;
  throw failed_precondition(
      fmt::format("Failed to assign an index to the worker at {}: the dispatcher's "
                  "worker_addresses have no place for it that is "
                  "free. A worker that is started again must run at the address that it had.",
                  address));
}

Bytes Dispatcher::find_task(const proto::FindTaskRequest& r) {
  const auto it = tasks_.find(r.task());
  if (it == tasks_.end()) throw not_found(fmt::format("Task {} is over.", r.task()));
  const Job& of = jobs_.at(iteration(it->second.iteration).job);
  proto::FindTaskResponse out;
  out.set_iteration(it->second.iteration);
  out.set_dataset(of.dataset);
  *out.mutable_parameters() = of.parameters;
  out.set_shard(workers_.at(it->second.worker).index);
  out.set_shards(static_cast<int>(options_.workers.size()));
  return to_bytes(out);
}

Bytes Dispatcher::end_task(const proto::EndTaskRequest& r) {
  drop_task(r.task(), true);
  return to_bytes(r);
}

Bytes Dispatcher::next_split(const proto::NextSplitRequest& r) {
  proto::NextSplitResponse out;
  out.set_number(iteration(r.iteration()).splits[{r.source(), r.round()}]++);
  return to_bytes(out);
}

// ---- Who watches.

void Dispatcher::watch_iteration(const std::shared_ptr<IncomingCall>& call) {
  const auto r = parsed<proto::WatchIterationRequest>(call->request());
  std::unique_lock lock(mutex_);
  if (stopped_) throw stopping();
  const auto found = iterations_.find(r.iteration());
  if (found == iterations_.end()) {  // over, and forgotten
    proto::WatchIterationResponse out;
    out.set_version(r.version() + 1);
    out.set_finished(true);
    later(call, {{}, to_bytes(out)});
    return send_answers(lock);
  }
  Reader& reader = found->second.readers[r.reader()];
  reader.watch = call;
  reader.seen = r.version();
  tell(found->second);
  send_answers(lock);
  lock.unlock();
  call->on_cancel([this, r, gone = call.get()] {
    std::unique_lock held(mutex_);
    const auto it = iterations_.find(r.iteration());
    if (it == iterations_.end() || !it->second.readers.contains(r.reader()) ||
        it->second.readers.at(r.reader()).watch.get() != gone)
      return;
    leave(r.iteration(), r.reader());
    send_answers(held);
  });
}

void Dispatcher::watch_worker(const std::shared_ptr<IncomingCall>& call) {
  const auto r = parsed<proto::WatchWorkerRequest>(call->request());
  std::unique_lock lock(mutex_);
  if (stopped_) throw stopping();
  const auto found = workers_.find(r.worker());
  if (found == workers_.end() || found->second.gone)
    throw not_found(fmt::format("There is no worker {} here.", r.worker()));
  found->second.watch = call;
  found->second.seen = r.version();
  tell(r.worker(), found->second);
  send_answers(lock);
  lock.unlock();
  call->on_cancel([this, id = r.worker(), gone = call.get()] {
    std::unique_lock held(mutex_);
    const auto w = workers_.find(id);
    if (stopped_ || w == workers_.end() || w->second.watch.get() != gone) return;
    w->second.watch = nullptr;
    w->second.since = Clock::now();
    if (options_.worker_timeout_ms <= 0) lose(id);
    send_answers(held);
  });
}

// ---- What changes.

Dispatcher::Iteration& Dispatcher::iteration(uint64_t id) {
  const auto it = iterations_.find(id);
  if (it == iterations_.end()) throw not_found(fmt::format("Iteration {} is over.", id));
  return it->second;
}

void Dispatcher::add_task(uint64_t iteration, uint64_t worker) {
  const uint64_t id = ++last_id_;
  tasks_[id] = {iteration, worker};
  Iteration& it = iterations_.at(iteration);
  it.tasks[id] = workers_.at(worker).address;
  changed(it);
  changed(workers_.at(worker));
}

void Dispatcher::drop_task(uint64_t task, bool ended) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  const Task t = found->second;
  tasks_.erase(found);
  if (const auto w = workers_.find(t.worker); w != workers_.end()) changed(w->second);
  const auto it = iterations_.find(t.iteration);
  if (it == iterations_.end()) return;
  it->second.tasks.erase(task);
  it->second.some_ended = it->second.some_ended || ended;
  // Where nobody has come to the end yet, a worker that comes later goes on.
  it->second.finished = it->second.tasks.empty() && it->second.some_ended;
  changed(it->second);
}

void Dispatcher::leave(uint64_t id, uint64_t reader) {
  const auto it = iterations_.find(id);
  if (it == iterations_.end() || it->second.readers.erase(reader) == 0 ||
      !it->second.readers.empty())
    return;
  it->second.left = Clock::now();
  if (jobs_.at(it->second.job).anonymous) forget(id);
}

void Dispatcher::forget(uint64_t id) {
  const auto it = iterations_.find(id);
  while (!it->second.tasks.empty()) drop_task(it->second.tasks.begin()->first, false);
  if (Job& of = jobs_.at(it->second.job); of.anonymous) of.iterations.erase(it->second.repetition);
  iterations_.erase(it);
}

void Dispatcher::lose(uint64_t worker) {
  workers_.at(worker).gone = true;
  std::vector<uint64_t> lost;
  for (const auto& [id, t] : tasks_)
    if (t.worker == worker) lost.push_back(id);
  for (const uint64_t id : lost) drop_task(id, false);
}

void Dispatcher::changed(Iteration& it) {
  ++it.version;
  tell(it);
}

void Dispatcher::changed(Worker& w) {
  ++w.version;
  for (auto& [id, known] : workers_)
    if (&known == &w) tell(id, w);
}

void Dispatcher::tell(Iteration& it) {
  for (auto& [id, reader] : it.readers) {
    if (!reader.watch || reader.seen >= it.version) continue;
    proto::WatchIterationResponse out;
    out.set_version(it.version);
    out.set_finished(it.finished);
    for (const auto& [task, address] : it.tasks) {
      auto* const t = out.add_task();
      t->set_id(task);
      t->set_address(address);
    }
    later(std::exchange(reader.watch, nullptr), {{}, to_bytes(out)});
  }
}

void Dispatcher::tell(uint64_t id, Worker& w) {
  if (!w.watch || w.seen >= w.version) return;
  proto::WatchWorkerResponse out;
  out.set_version(w.version);
  out.set_newest(last_id_);
  for (const auto& [task, t] : tasks_)
    if (t.worker == id) out.add_task(task);
  w.since = Clock::now();
  later(std::exchange(w.watch, nullptr), {{}, to_bytes(out)});
}

void Dispatcher::later(std::shared_ptr<IncomingCall> call, cluster::Answer answer) {
  answers_.emplace_back(std::move(call), std::move(answer));
}

void Dispatcher::send_answers(std::unique_lock<std::mutex>& lock) {
  const auto answers = std::exchange(answers_, {});
  lock.unlock();
  for (const auto& [call, answer] : answers) call->answer(answer);
  lock.lock();
}

// Lets go what nobody has come back for.
void Dispatcher::keep_time() {
  const auto or_else = [](int64_t ms, std::chrono::milliseconds usual) {
    return ms > 0 ? std::chrono::milliseconds(ms) : usual;
  };
  const auto check = or_else(options_.check_interval_ms, kCheck),
             kept = or_else(options_.job_timeout_ms, kKept);
  const auto missed = or_else(options_.worker_timeout_ms, kMissed);
  auto next_check = Clock::now() + check;
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    wake_.wait_until(lock, std::min(next_check, Clock::now() + missed));
    const auto now = Clock::now();
    std::vector<uint64_t> lost, over;
    for (const auto& [id, w] : workers_)
      if (!w.gone && !w.watch && w.since + missed <= now) lost.push_back(id);
    for (const uint64_t id : lost) lose(id);
    if (now >= next_check) {
      next_check = now + check;
      for (const auto& [id, it] : iterations_)
        if (it.readers.empty() && options_.job_timeout_ms >= 0 && it.left + kept <= now)
          over.push_back(id);
      for (const uint64_t id : over) forget(id);
    }
    send_answers(lock);
  }
}

}  // namespace emplace::service
