#include "cluster/task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <atomic>
#include <chrono>
#include <random>

#include "exec/rendezvous.h"
#include "graph/graph_def.h"
#include "session/runtime.h"

namespace emplace::cluster {
namespace {

uint64_t random_incarnation() {
  std::random_device source;
  return (uint64_t{source()} << 32 | source()) >> 1;
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Signature signature_of(const Graph& graph, const PartSpec& spec) {
  Signature s;
  for (const std::string& name : spec.feeds) s.feeds.push_back(graph.tensor(name));
  for (const std::string& name : spec.fetches) s.fetches.push_back(graph.tensor(name));
  for (const std::string& name : spec.targets) {
    Node* const node = graph.find(name);
    if (!node) throw not_found(fmt::format("FetchOutputs: node {} not found", name));
    s.targets.push_back(node);
  }
  return s;
}

}  // namespace

// A part, planned as any graph is, on the task's devices and with its resources.
class Task::Part {
 public:
  Part(Task& task, std::shared_ptr<ResourceManager> streams, const PartSpec& spec) {
    auto graph = std::make_shared<Graph>();
    ImportOptions import;
    import.allow_internal_names = true;
    import.validate_colocation = false;
    import_graph_def(*graph, spec.graph, import);
    SessionOptions options = task.options_;
    options.allow_soft_placement = spec.soft_placement;
    options.log_device_placement = false;  // the master's to say
    options.placer.clear();                // every node asks for its device
    session_ = std::make_shared<Session::Impl>(
        graph, options, kernel_table(task.options_),
        SharedParts{task.pools_, task.devices_, task.resources_, std::move(streams)}, "");
    family_ = session_->family(signature_of(*graph, spec));
    std::map<std::string, std::shared_ptr<Peer>> found;
    for (const auto& [channel, to] : spec.sends) {
      auto& peer = found[to];
      if (!peer) peer = task.find_peer_(to);
      takers_[channel] = peer;
    }
  }
  ~Part() { session_->close(); }

  std::vector<Tensor> run(const PartRun& run, Rendezvous& rendezvous) {
    std::vector<Tensor> fetched;
    RunOptions options;
    options.trace = static_cast<bool>(run.on_stats);
    RunMetadata metadata;
    const auto start = std::chrono::steady_clock::now();
    session_->run(*family_, run.feeds, fetched, options, options.trace ? &metadata : nullptr, &rendezvous);
    if (options.trace)
      run.on_stats(metadata.nodes, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    return fetched;
  }
  Peer& taker(int channel) const { return *takers_.at(channel); }
  std::vector<WaitingCall> waiting() { return session_->waiting(); }

 private:
  std::shared_ptr<Session::Impl> session_;
  std::shared_ptr<PlanFamily> family_;
  std::map<int, std::shared_ptr<Peer>> takers_;
};

class Task::Step final : public Rendezvous, public std::enable_shared_from_this<Step> {
 public:
  Step(SessionId session, StepId step) : session_(session), step_(step) {}

  std::vector<Tensor> run(std::shared_ptr<Part> part, const PartRun& run) {
    part_ = std::move(part);
    return part_->run(run, *this);
  }
  void put(int64_t channel, Tensor value) { inbox_->put(channel, std::move(value)); }
  // The first error ends the step. What that cancels may fail, and come here again from within.
  void fail(const Error& error) {
    if (failing_.exchange(true)) return;
    inbox_->fail(error);
    const std::lock_guard lock(mutex_);
    error_ = error;
    if (cancel_) cancel_(error);
  }

  void send(ValueChannel channel, const Tensor& value, std::shared_ptr<Pending> kernel) override {
    const auto outgoing = part_->taker(channel.number).push(
        session_, step_, in_round(sent_, channel), value, [self = shared_from_this(), kernel](const Failure& failure) {
          if (failure) self->fail(*failure);
          kernel->end(failure);
        });
    if (outgoing) kernel->on_cancel([outgoing] { outgoing->cancel(); });
  }
  void receive(ValueChannel channel, std::shared_ptr<Pending> kernel) override {
    inbox_->take(in_round(received_, channel), std::move(kernel));
  }
  void joined(std::function<void(const Error&)> cancel) override {
    const std::lock_guard lock(mutex_);
    cancel_ = std::move(cancel);
    if (error_) cancel_(*error_);
  }
  void left() override {
    const std::lock_guard lock(mutex_);
    cancel_ = nullptr;
  }

 private:
  // A channel with the number of times that it was used before.
  int64_t in_round(std::map<int, int64_t>& counts, ValueChannel channel) {
    if (!channel.every_round) return channel.number;
    const std::lock_guard lock(counts_mutex_);
    return counts[channel.number]++ << 32 | channel.number;
  }

  const SessionId session_;
  const StepId step_;
  std::shared_ptr<Part> part_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::mutex mutex_;
  std::function<void(const Error&)> cancel_;
  Failure error_;
  std::atomic<bool> failing_{false};
  std::mutex counts_mutex_;
  std::map<int, int64_t> sent_, received_;  // by channel of a loop
};

struct Task::Open {
  explicit Open(SessionId id) : id(id) {}
  const SessionId id;
  const std::shared_ptr<ResourceManager> streams = std::make_shared<ResourceManager>();
  std::mutex mutex;  // guards what follows
  std::map<int, std::shared_ptr<Part>> parts;
  std::map<StepId, std::shared_ptr<Step>> steps;
  StepId oldest = 0;
  bool closed = false;  // its steps are over, those yet to begin too
};

// The peers, as collective operations see them.
class Task::OtherTasks final : public CollectiveTasks {
 public:
  OtherTasks(std::string own, Find find) : own_(std::move(own)), leader_(own_), find_(std::move(find)) {}
  void set_leader(std::string task, Collectives& here) {
    leader_ = std::move(task);
    here_ = &here;
  }
  const std::string& own() const override { return own_; }
  void join(int32_t group, int32_t size, const std::string& member,
            std::function<void(Failure, CollectiveMembers)> done) override {
    if (leader_ == own_) return here_->lead(group, size, member, std::move(done));
    with(leader_, [&](Peer& p) { p.join_group(group, size, member, done); }, [&](const Error& e) { done(e, {}); });
  }
  void send(const std::string& task, const CollectivePart& part, const Tensor& value, CollectiveDone sent) override {
    with(task, [&](Peer& p) { p.push_part(part, value, sent); }, sent);
  }
  void watch(const std::string& task, CollectiveDone done) override {
    with(task, [&](Peer& p) { p.watch_collectives(done); }, done);
  }

 private:
  template <class F, class G>
  void with(const std::string& task, F f, G failed) {
    std::shared_ptr<Peer> peer;
    if (const Failure failure = failure_of([&] { peer = find_(task); })) return failed(*failure);
    f(*peer);
  }

  const std::string own_;
  std::string leader_;
  Collectives* here_ = nullptr;  // whose these are
  const Find find_;
};

Task::Task(const DeviceName& name, SessionOptions options, Find find)
    : name_(name.task_name()),
      job_(name.job.value_or("localhost")),
      options_(std::move(options)),
      find_peer_(std::move(find)),
      pools_(make_pools(options_)),
      other_tasks_(std::make_shared<OtherTasks>(name_, find_peer_)),
      collectives_(std::make_shared<Collectives>(other_tasks_)) {
  set_leader(name_);
  resources_->find_or_create("_collectives", "", [this] { return collectives_; });
  devices_ = std::make_shared<std::vector<std::shared_ptr<Device>>>(
      make_devices(options_, pools_, name));
  info_.incarnation = random_incarnation();
  for (const auto& d : *devices_)
    info_.devices.push_back(
        {d->name(), d->type(), d->description(), d->memory_limit(), d->incarnation()});
}

Task::~Task() { stop(); }

void Task::set_leader(std::string task) { other_tasks_->set_leader(std::move(task), *collectives_); }

std::unique_ptr<Eager> Task::eager() const {
  SessionOptions options = options_;
  options.allow_soft_placement = true;
  return eager_over(options, pools_, devices_);
}

std::shared_ptr<Task::Open> Task::find(SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto it = open_.find(session);
  if (it != open_.end()) return it->second;
  throw Error(Code::kAborted,
              fmt::format("Session handle is not found: {:016x}. Possibly this worker (\"{}\") just "
                          "restarted.",
                          session, name_));
}

std::shared_ptr<Task::Step> Task::step_of(Open& open, StepId step) {
  const std::lock_guard lock(open.mutex);
  if (open.closed || step < open.oldest) return nullptr;
  auto& found = open.steps[step];
  if (!found) found = std::make_shared<Step>(open.id, step);
  return found;
}

void Task::add_part(PartSpec spec) {
  if (spec.confined) confine(spec.graph, rules_, name_ + "/device:CPU:0");
  std::shared_ptr<Open> open;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw Error(Code::kUnavailable, fmt::format("{} is stopping.", name_));
    auto& found = open_[spec.session];
    if (!found) found = std::make_shared<Open>(spec.session);
    open = found;
  }
  auto part = std::make_shared<Part>(*this, open->streams, spec);
  const std::lock_guard lock(open->mutex);
  open->parts[spec.part] = std::move(part);
}

std::vector<Tensor> Task::run_part(const PartRun& run) {
  const std::shared_ptr<Open> open = find(run.session);
  std::shared_ptr<Part> part;
  std::vector<std::shared_ptr<Step>> over;
  {
    const std::lock_guard lock(open->mutex);
    const auto it = open->parts.find(run.part);
    if (it == open->parts.end())
      throw Error(Code::kAborted, fmt::format("Graph handle is not found: {}. Possibly this worker "
                                              "(\"{}\") just restarted.",
                                              run.part, name_));
    part = it->second;
    open->oldest = std::max(open->oldest, run.oldest);
    while (!open->steps.empty() && open->steps.begin()->first < open->oldest)
      over.push_back(open->steps.extract(open->steps.begin()).mapped());
  }
  // The master has ended them; the message that said so may be lost.
  for (const auto& ended : over) ended->fail({Code::kCancelled, "The step is over."});
  const std::shared_ptr<Step> step = step_of(*open, run.step);
  if (!step) throw Error(Code::kCancelled, "The step is over.");
  meter_.count();
  try {
    return step->run(std::move(part), run);
  } catch (const Error& e) {
    const std::lock_guard lock(mutex_);
    if (e.code() != Code::kCancelled) last_error_ = e.message();
    throw;
  }
}

TaskStatus Task::status() {
  TaskStatus s;
  s.task = name_;
  s.incarnation = info_.incarnation;
  s.steps = meter_.total();
  s.steps_per_second = meter_.per_second();
  s.memory_bytes = resident_bytes();
  s.uptime_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  const std::lock_guard lock(mutex_);
  s.sessions = static_cast<int>(open_.size());
  s.last_error = last_error_;
  return s;
}

void Task::push(SessionId session, StepId step, int64_t channel, Tensor value) {
  if (const auto found = step_of(*find(session), step)) found->put(channel, std::move(value));
}

void Task::end_step(SessionId session, StepId step, const Error& error) {
  if (const auto found = step_of(*find(session), step)) found->fail(error);
}

std::vector<WaitingCall> Task::waiting(SessionId session) {
  std::vector<std::shared_ptr<Part>> parts;
  {
    const std::lock_guard lock(mutex_);
    const auto it = open_.find(session);
    if (it == open_.end()) return {};
    const std::lock_guard inner(it->second->mutex);
    for (const auto& [number, part] : it->second->parts) parts.push_back(part);
  }
  std::vector<WaitingCall> calls;
  for (const auto& part : parts)
    for (WaitingCall& c : part->waiting()) calls.push_back(std::move(c));
  return calls;
}

void Task::close_session(SessionId session) {
  std::shared_ptr<Open> open;
  {
    const std::lock_guard lock(mutex_);
    const auto it = open_.find(session);
    if (it == open_.end()) return;
    open = open_.extract(it).mapped();
  }
  decltype(open->steps) steps;
  {
    const std::lock_guard lock(open->mutex);
    open->closed = true;
    steps = open->steps;
  }
  for (const auto& [id, step] : steps)
    step->fail({Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."});
  resources_->clear(private_container(session));
}

void Task::reset(const std::vector<std::string>& containers) {
  if (containers.empty()) return resources_->clear(job_);
  for (const std::string& c : containers)
    if (!c.empty()) resources_->clear(c);
}

void Task::stop() {
  std::vector<SessionId> ids;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [id, open] : open_) ids.push_back(id);
  }
  for (const SessionId id : ids) close_session(id);
  collectives_->stop({Code::kUnavailable, fmt::format("{} is stopping.", name_)});
}

// ---- Containers.

std::string private_container(SessionId session) { return fmt::format("_session_{:016x}", session); }

namespace {

bool is_set(const proto::NodeDef& def, const char* name) {
  const auto it = def.attr().find(name);
  return it != def.attr().end() && (it->second.b() || !it->second.s().empty());
}

bool is_variable(const std::string& op) {
  return op == "VarHandleOp" || op == "Variable" || op == "VariableV2";
}

void set_container(proto::NodeDef& def, const std::string& job, const std::string& own,
                   bool isolated) {
  const auto it = def.mutable_attr()->find("container");
  if (it == def.mutable_attr()->end() || (!it->second.s().empty() && !isolated)) return;
  const bool shared = is_variable(def.op()) || is_set(def, "shared_name") ||
                      is_set(def, "use_node_name_sharing");
  it->second.set_s(shared && !isolated ? job : own);
}

}  // namespace

void set_containers(proto::GraphDef& graph, const std::string& job, SessionId session,
                    bool isolated) {
  const std::string own = private_container(session);
  for (proto::NodeDef& def : *graph.mutable_node()) set_container(def, job, own, isolated);
  for (proto::FunctionDef& f : *graph.mutable_library()->mutable_function())
    for (proto::NodeDef& def : *f.mutable_node_def()) set_container(def, job, own, isolated);
}

// ---- As a peer.

namespace {

class LocalPeer final : public Peer {
 public:
  explicit LocalPeer(Task& task) : task_(task) {}
  const std::string& name() const override { return task_.name(); }
  Task* here() override { return &task_; }
  void describe(std::function<void(Failure, TaskInfo)> done) override { done({}, task_.info()); }
  void status(std::function<void(Failure, TaskStatus)> done) override { done({}, task_.status()); }
  void add_part(PartSpec part, Done done) override {
    done(failure_of([&] { task_.add_part(std::move(part)); }));
  }
  void run_part(PartRun run,
                std::function<void(Failure, std::vector<Tensor>)> done) override {
    task_.threads().run([&task = task_, run = std::move(run), done = std::move(done)] {
      std::vector<Tensor> fetched;
      const Failure failure = failure_of([&] { fetched = task.run_part(run); });
      done(failure, std::move(fetched));
    });
  }
  std::shared_ptr<OutgoingCall> push(SessionId session, StepId step, int64_t channel,
                                     const Tensor& value, Done done) override {
    done(failure_of([&] { task_.push(session, step, channel, value.copy()); }));
    return nullptr;
  }
  void end_step(SessionId session, StepId step, const Error& error) override {
    failure_of([&] { task_.end_step(session, step, error); });
  }
  void waiting(SessionId session, std::function<void(Failure, std::vector<WaitingCall>)> done) override {
    done({}, task_.waiting(session));
  }
  void close_session(SessionId session, Done done) override {
    done(failure_of([&] { task_.close_session(session); }));
  }
  void reset(std::vector<std::string> containers, Done done) override {
    done(failure_of([&] { task_.reset(containers); }));
  }
  void join_group(int32_t group, int32_t size, const std::string& member,
                  std::function<void(Failure, CollectiveMembers)> done) override {
    task_.collectives()->lead(group, size, member, std::move(done));
  }
  void push_part(const CollectivePart& part, const Tensor& value, Done sent) override {
    sent(failure_of([&] { task_.collectives()->arrived(part, value.copy()); }));
  }
  void watch_collectives(Done done) override { task_.collectives()->watched(std::move(done)); }

 private:
  Task& task_;
};

}  // namespace

std::shared_ptr<Peer> local_peer(Task& task) { return std::make_shared<LocalPeer>(task); }

}  // namespace emplace::cluster
