#include "session/session_impl.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/stop_scope.h"
#include "exec/rendezvous.h"
#include "graph/read_lock.h"
#include "kernel/variable_kernels.h"
#include "placement/log_text.h"
#include "session/local_devices.h"
#include "session/called_function.h"
#include "session/memory_limits.h"
#include "session/replanner.h"
#include "session/runtime.h"
#include "session/session_placer.h"
#include "session/watchdog.h"

namespace emplace {
namespace {

// Keeps a step in the session's list while it runs, so that it can be cancelled.
class Registered {
 public:
  Registered(Session::Impl& s, ActiveStep step) : s_(s), step_(step) {
    const std::lock_guard lock(s_.active_mutex);
    if (s_.is_closed) throw cancelled("Session has been closed.");
    s_.active.push_back(step_);
  }
  ~Registered() {
    const std::lock_guard lock(s_.active_mutex);
    std::erase_if(s_.active, [&](const ActiveStep& a) {
      return a.instance == step_.instance && a.step == step_.step;
    });
    if (s_.is_closed && s_.active.empty()) s_.all_done.notify_all();
  }

 private:
  Session::Impl& s_;
  const ActiveStep step_;
};

// The instance stays while somebody may cancel its step, which has begun.
class Held {
 public:
  explicit Held(Instance& instance) : instance_(instance) {}
  ~Held() { instance_.let_go(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Instance& instance_;
};

// Tells the other parts of a step over several tasks how to end this one, while it runs.
class Joined {
 public:
  Joined(Rendezvous* rendezvous, ActiveStep step) : rendezvous_(rendezvous) {
    if (rendezvous_)
      rendezvous_->joined([step](const Error& e) { step.instance->cancel(step.step, e); });
  }
  ~Joined() {
    if (rendezvous_) rendezvous_->left();
  }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

 private:
  Rendezvous* const rendezvous_;
};

// What planning asks the session.
class Environment final : public PlanEnvironment {
 public:
  explicit Environment(Session::Impl& s) : s_(s) {}
  Device* device_of(const Node& n) override { return s_.device_of(n); }
  std::vector<Device*> place_function(const Function& f, Device* caller,
                                      std::span<Device* const> homes) override {
    return s_.place_function(f, caller, homes);
  }
  const KernelRegistry& kernels() override { return s_.kernels; }
  ResourceManager& resources() override { return s_.resources; }
  ResourceManager& streams() override { return *s_.streams; }
  Device* host() override { return s_.devices->front().get(); }
  std::shared_ptr<CalledFunction> function(const Node& node, const std::string& name) override {
    const auto find = [&](const std::string& wanted) {
      auto f = node.graph().find_function(wanted);
      return f ? f : s_.graph.find_function(wanted);
    };
    return called_function(name, find, s_.options, s_.kernels,
                           {s_.pools, s_.devices, s_.resources_owner, s_.streams});
  }

 private:
  Session::Impl& s_;
};

std::string key_of(const Signature& s) {
  std::string key;
  key.reserve((s.feeds.size() + s.fetches.size() + s.targets.size()) * 12 + 8);
  auto add = [&](int node, int index) {
    key.append(reinterpret_cast<const char*>(&node), sizeof node);
    key.append(reinterpret_cast<const char*>(&index), sizeof index);
  };
  for (const Output& o : s.feeds) add(o.node->id(), o.index);
  add(-1, -1);
  for (const Output& o : s.fetches) add(o.node->id(), o.index);
  add(-1, -1);
  for (const Node* n : s.targets) add(n->id(), -1);
  for (Device* d : s.feed_devices) key.append(reinterpret_cast<const char*>(&d), sizeof d);
  key += s.stay ? 's' : 'h';
  return key;
}

}  // namespace

void write_log(const SessionOptions& options, const std::string& text) {
  if (options.log) return options.log(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Session::Impl::Impl(Graph& g, std::shared_ptr<Graph> keep, SessionOptions o,
                    const KernelRegistry& k)
    : graph(g),
      keep_graph(std::move(keep)),
      options(std::move(o)),
      kernels(k),
      pools(options.target.empty() ? make_pools(options) : Pools{}),
      resources_owner(std::make_shared<ResourceManager>()),
      resources(*resources_owner),
      streams(resources_owner),
      owns_resources(true),
      placer(session_placer(options)),
      weighs(weighs_costs(options)),
      remote(options.target.empty() ? nullptr : open_target(graph, options)) {
  if (remote) return;
  devices = std::make_shared<std::vector<std::shared_ptr<Device>>>(make_devices(options, pools));
  LocalDevices::add_to(resources, devices);
  describe_devices();
  if (options.log_device_placement) write_log(options, device_mapping(device_infos));
}

Session::Impl::Impl(std::shared_ptr<Graph> g, SessionOptions o, const KernelRegistry& k,
                    SharedParts shared, std::string local)
    : graph(*g),
      keep_graph(std::move(g)),
      options(std::move(o)),
      kernels(k),
      pools(std::move(shared.pools)),
      devices(std::move(shared.devices)),
      resources_owner(std::move(shared.resources)),
      resources(*resources_owner),
      streams(shared.streams ? std::move(shared.streams) : resources_owner),
      owns_resources(false),
      local_device(std::move(local)),
      placer(session_placer(options)),
      weighs(weighs_costs(options)) {
  describe_devices();
}

void Session::Impl::describe_devices() {
  device_infos = emplace::device_infos(*devices, pools);
  // Where resources are shared, others have plans that hold the variables.
  if (weighs && owns_resources && options.replan_after_steps >= 0)
    replanner = std::make_unique<Replanner>(*this);
  for (const auto& d : *devices)
    attributes.push_back(
        {d->name(), d->type(), d->description(), d->memory_limit(), d->incarnation()});
  sampler = make_sampler();
  measures = sampler && (options.measure_costs || weighs_costs(options));
}

Session::Impl::~Impl() {
  close();
  try {
    save_costs();
  } catch (const Error& e) {
    write_log(options, fmt::format("The session's costs could not be saved: {}\n", e.message()));
  }
}

void Session::Impl::limit_memory(int64_t bytes, const std::string& device) {
  if (remote) throw unimplemented("a session on a server does not limit its devices' memory");
  drop_idle_instances();  // a plan made later could not ask for what those of its own family keep
  const std::lock_guard lock(place_mutex);
  if (!devices) throw cancelled("Session has been closed.");
  emplace::limit_memory(*devices, device, bytes);
}

int64_t Session::Impl::trim() {
  if (remote) return 0;
  drop_idle_instances();
  const std::lock_guard lock(place_mutex);
  const auto mine = devices;
  return mine ? trim_memory(*mine) : trim_memory({});
}

void Session::Impl::cancel_all(const Error& error) {
  if (remote) return remote->cancel(error);
  const std::lock_guard lock(active_mutex);
  for (const ActiveStep& a : active) a.instance->cancel(a.step, error);
}

// Without memory for the words, the steps end by themselves: closing never fails.
void Session::Impl::stop_all() noexcept {
  try {
    if (remote || is_busy())
      cancel_all(
          {Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."});
  } catch (const std::bad_alloc&) {
  }
}

bool Session::Impl::is_busy() {
  const std::lock_guard lock(active_mutex);
  return !active.empty();
}

std::vector<WaitingCall> Session::Impl::waiting() {
  if (remote) return remote->waiting();
  std::vector<WaitingCall> calls;
  const std::lock_guard lock(active_mutex);
  for (const ActiveStep& a : active)
    for (WaitingCall& c : a.instance->waiting()) calls.push_back(std::move(c));
  return calls;
}

void Session::Impl::close() {
  if (!is_closed.exchange(true)) stop_all();
  if (remote) return remote->close();
  {
    std::unique_lock lock(active_mutex);
    for (const ActiveStep& s : active)  // who waits for himself waits for ever
      if (s.instance->stops_by(StopScope::current())) return;
    all_done.wait(lock, [&] { return active.empty(); });
  }
  const std::lock_guard freeing(free_mutex);
  if (std::exchange(is_free, true)) return;
  // Helpers leave a step a little after its caller.
  while (occupied.load(std::memory_order_acquire) > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  {
    const std::lock_guard lock(families_mutex);
    for (const auto& [key, family] : families) {  // a callable may keep its own
      const std::lock_guard plans(family->mutex);
      family->programs.clear();
    }
    families.clear();
  }
  if (!owns_resources) return;
  resources.clear("");
  const std::lock_guard lock(place_mutex);
  for (const auto& d : *devices)  // whoever comes last gives the card's memory back
    if (d.use_count() == 1) d->trim();
  devices.reset();  // the next session's options count, though this object may live on
}

void Session::Impl::check_node(const Node* n) const {
  if (!n) throw invalid_argument("'null' is not an element of this session's graph.");
  if (&n->graph() != &graph)
    throw invalid_argument(fmt::format("'{}' is not an element of this session's graph.", n->name()))
        .at_node(n->name(), n->type())
        .from_source(n->source());
}

std::shared_ptr<PlanFamily> Session::Impl::family(Signature signature) {
  if (is_closed) throw cancelled("Session has been closed.");
  if (signature.fetches.empty() && signature.targets.empty())
    throw invalid_argument("Must specify at least one target to fetch or execute.");
  auto check_output = [&](const Output& o) {
    check_node(o.node);
    if (o.index < 0 || o.index >= o.node->num_outputs())
      throw invalid_argument(fmt::format("'{}:{}' does not exist: node '{}' has {} outputs",
                                         o.node->name(), o.index, o.node->name(),
                                         o.node->num_outputs()))
          .at_node(o.node->name(), o.node->type())
          .from_source(o.node->source());
  };
  for (const Output& o : signature.feeds) check_output(o);
  for (const Output& o : signature.fetches) check_output(o);
  for (const Node* n : signature.targets) check_node(n);
  const std::string key = key_of(signature);
  const std::lock_guard lock(families_mutex);
  if (families.size() >= kMaxFamilies)  // a graph that grows: those that nobody holds
    std::erase_if(families, [](const auto& f) { return f.second.use_count() == 1; });
  if (const auto known = families.find(key); known != families.end()) return known->second;
  auto family = std::make_shared<PlanFamily>();
  family->signature = std::move(signature);
  return families.emplace(key, std::move(family)).first->second;
}

void Session::Impl::check_feeds(const PlanFamily& family, std::span<const Tensor> feeds) const {
  const auto& expected = family.signature.feeds;
  if (feeds.size() != expected.size())
    throw invalid_argument(
        fmt::format("{} values fed where {} are expected", feeds.size(), expected.size()));
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Output& o = expected[i];
    if (feeds[i].dtype() != o.dtype())
      throw invalid_argument(fmt::format("Tensor {} was fed a value of type {} where {} is expected",
                                         o.name(), dtype_name(feeds[i].dtype()),
                                         dtype_name(o.dtype())))
          .at_node(o.node->name(), o.node->type())
          .from_source(o.node->source());
    if (!o.shape().compatible_with(feeds[i].shape()))
      throw invalid_argument(fmt::format("Cannot feed value of shape {} for Tensor '{}', which has "
                                         "shape '{}'",
                                         feeds[i].shape().tuple_str(), o.name(),
                                         o.shape().tuple_str()))
          .at_node(o.node->name(), o.node->type())
          .from_source(o.node->source());
  }
}

std::shared_ptr<Program> Session::Impl::program_for(PlanFamily& family,
                                                    std::span<const Tensor> feeds) {
  auto fits = [&](const PlanFamily::Entry& e) {
    for (size_t i = 0; i < feeds.size(); ++i)
      if (!(feeds[i].shape() == e.shapes[i])) return false;
    return true;
  };
  const std::lock_guard lock(family.mutex);
  if (const uint64_t now = shapes_outgrown(); now != family.outgrown) {
    family.programs.clear();
    family.outgrown = now;
  }
  for (auto it = family.programs.begin(); it != family.programs.end(); ++it)
    if (fits(*it)) {
      if (it != family.programs.begin())
        family.programs.splice(family.programs.begin(), family.programs, it);
      return family.programs.front().program;
    }
  check_feeds(family, feeds);
  std::vector<Shape> shapes;
  for (const Tensor& t : feeds) shapes.push_back(t.shape());
  auto program = plan(family, shapes);
  family.programs.push_front({std::move(shapes), program});
  if (family.programs.size() > PlanFamily::kMaxPrograms) family.programs.pop_back();
  return program;
}

std::shared_ptr<Program> Session::Impl::checked_program(PlanFamily& family,
                                                        std::span<const Tensor> feeds) {
  if (feeds.size() != family.signature.feeds.size()) check_feeds(family, feeds);
  std::shared_ptr<Program> program = program_for(family, feeds);
  for (size_t i = 0; i < feeds.size(); ++i)
    if (feeds[i].dtype() != program->feed_types[i]) check_feeds(family, feeds);
  return program;
}

std::shared_ptr<Program> Session::Impl::plan(PlanFamily& family, std::vector<Shape> shapes) {
  std::shared_ptr<Program> program;
  try {
    program = plan_locked(family, std::move(shapes));
  } catch (...) {
    write_waiting_log();
    throw;
  }
  if (options.log_device_placement) write_waiting_log();
  return program;
}

std::shared_ptr<Program> Session::Impl::plan_locked(PlanFamily& family, std::vector<Shape> shapes) {
  const ReadLock reading(graph.mutex());
  const std::lock_guard lock(place_mutex);
  if (is_closed) throw cancelled("Session has been closed.");
  place(family.signature);
  if (!contracts.empty()) check_contracts(family.signature);
  Environment env(*this);
  auto program = program_that_fits(family.signature, [&](bool in_turns) {
    PlannerOptions how = planner_options();
    how.in_turns = in_turns;
    return compile(graph, family.signature, shapes, env, how);
  });
  program->pin_host = options.gpu_options.force_gpu_compatible;
  program->keep.push_back(devices);
  program->occupied = &occupied;
  return program;
}

// What plans keep for their next step. One that is being made just now is left alone. Returns how
// many steps are under way.
int Session::Impl::drop_idle_instances() {
  std::vector<std::shared_ptr<PlanFamily>> all;
  {
    const std::lock_guard lock(families_mutex);
    for (const auto& [key, family] : families) all.push_back(family);
  }
  for (const auto& family : all)
    if (const std::unique_lock lock(family->mutex, std::try_to_lock); lock)
      for (const PlanFamily::Entry& e : family->programs) e.program->drop_idle();
  return occupied.load(std::memory_order_relaxed);
}

StepRequest Session::Impl::request(const RunOptions& o) const {
  StepRequest r;
  if (o.inter_op_thread_pool == -1) return r;  // one worker: the caller
  if (o.inter_op_thread_pool < 0 || o.inter_op_thread_pool >= static_cast<int>(pools.inter_op.size()))
    throw invalid_argument(fmt::format("Invalid inter_op_thread_pool: {}", o.inter_op_thread_pool));
  const Pools::InterOp& pool = pools.inter_op[o.inter_op_thread_pool];
  r.pool = pool.helpers.get();
  r.workers = pool.workers;
  return r;
}

void Session::Impl::run(PlanFamily& family, std::span<const Tensor> feeds,
                        std::vector<Tensor>& fetched, const RunOptions& o,
                        RunMetadata* metadata, Rendezvous* rendezvous) try {
  if (!replanner) return step(family, feeds, fetched, o, metadata, rendezvous);
  replanner->count(family);
  const auto running = replanner->running();
  const auto start = std::chrono::steady_clock::now();
  step(family, feeds, fetched, o, metadata, rendezvous);
  replanner->ran(family,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
} catch (Error& e) {
  tell_host_holders(e, resources);
  throw;
}

void Session::Impl::step(PlanFamily& family, std::span<const Tensor> feeds,
                         std::vector<Tensor>& fetched, const RunOptions& o,
                         RunMetadata* metadata, Rendezvous* rendezvous) {
  if (metadata) *metadata = {};
  if (remote) {
    check_feeds(family, feeds);
    if (is_closed) throw cancelled("Session has been closed.");
    fetched = remote->run(family.signature, feeds, o, metadata);
    return;
  }
  StepRequest step = request(o);
  step.feeds = feeds;
  step.rendezvous = rendezvous;
  const std::shared_ptr<Program> program = checked_program(family, feeds);
  std::unique_ptr<Instance> instance = program->lease();
  const ActiveStep active_step{instance.get(), instance->begin(program)};
  const Held held(*instance);
  const Registered registered(*this, active_step);
  const Joined joined(rendezvous, active_step);
  const Deadline deadline(o.timeout_in_ms > 0 ? o.timeout_in_ms : options.operation_timeout_in_ms,
                          [active_step] { active_step.instance->cancel(active_step.step, timed_out()); });
  StepTrace step_trace;
  const bool trace = o.trace && metadata;
  StepTrace* const asked = trace ? &step_trace : nullptr;
  if (measures) [[unlikely]]
    run_measured(family, *program, std::move(instance), step, fetched, asked);
  else Instance::run(std::move(instance), step, fetched, asked);
  if (trace) fill_metadata(*program, step_trace, *metadata);
}

void Session::Impl::fill_metadata(const Program& program, const StepTrace& trace,
                                  RunMetadata& metadata) const {
  using namespace std::chrono;
  const int64_t now = steady_clock::now().time_since_epoch().count();
  int64_t first = now;
  for (const Stamp& s : trace.stamps)
    if (s.start) first = std::min(first, s.start);
  const int64_t age = now - first;
  metadata.nodes.clear();
  metadata.start_us =
      (duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count() - age) / 1000;
  const auto add = [&](const Label& label, const Stamp& stamp) {
    NodeStats n;
    n.node = *label.name;
    n.op = label.kind == StepKind::kCopy ? "Copy" : label.node->type();
    n.device = label.device->name();
    n.start_ns = stamp.start - first;
    n.end_ns = stamp.end - first;
    n.bytes = stamp.bytes;
    n.thread = stamp.thread;
    metadata.nodes.push_back(std::move(n));
  };
  for (size_t i = 0; i < trace.stamps.size(); ++i)
    if (trace.stamps[i].start && !program.labels[i].island)
      add(program.labels[i], trace.stamps[i]);
  for (const auto& [label, stamp, shapes] : trace.inside) add(*label, stamp);
}

std::unique_ptr<Session> make_session(Graph& graph, SessionOptions options,
                                      const KernelRegistry& kernels) {
  return std::make_unique<Session>(
      std::make_shared<Session::Impl>(graph, nullptr, std::move(options), kernels));
}

PlannerOptions& planner_options() {
  static PlannerOptions options;
  return options;
}

}  // namespace emplace
