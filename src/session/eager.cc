#include "emplace/eager.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/device_name.h"
#include "graph/function_op.h"
#include "graph/removed_ops.h"
#include "kernel/random_stream.h"
#include "session/called_function.h"
#include "session/eager_function.h"
#include "session/eager_host.h"
#include "session/local_devices.h"
#include "session/eager_tasks.h"
#include "session/runtime.h"
#include "session/session_placer.h"

namespace emplace {
namespace {

// Shapes may differ from call to call.
struct CachedKernel final : EagerCall {
  void describe(bool reusable, const KernelTraits& traits, const Device& host) {
    if (device->type() == host.type() && device != &host) other_cpu_ = &device->name();
    num_inputs_ = site.num_inputs;
    num_outputs_ = site.num_outputs;
    gives_list_ = op->outputs.size() != 1 || op->outputs[0].is_list();
    reusable_ = reusable;
    light_ = traits.in_place || traits.forwards;
  }
  void describe_remote(bool reusable) {
    num_inputs_ = static_cast<int>(input_types.size());
    num_outputs_ = static_cast<int>(output_types.size());
    gives_list_ = op->outputs.size() != 1 || op->outputs[0].is_list();
    reusable_ = reusable;
  }
  const std::string& place() const { return remote ? remote_device : device->name(); }

  const OpDef* op = nullptr;
  AttrList attrs;
  std::vector<DType> input_types, output_types;
  std::unique_ptr<const PreparedRemoteCall> remote;  // another task's; then none of what follows but `site`
  std::string remote_device;
  Device* device = nullptr;
  Prepared kernel;
  uint64_t host_inputs = 0;
  std::vector<uint32_t> operands;
  CallSite site;
};

const ResourceHandle* handle_of(const Tensor& t) {
  const bool one = t.dtype() == DType::kResource && t.num_elements() == 1;
  return one ? t.data<ResourceHandle>() : nullptr;
}

std::string bytes_key(std::string_view op, std::span<const Tensor> inputs, const AttrList& attrs,
                      std::string_view device) {
  std::string key(op);
  key += '\0';
  for (const Tensor& t : inputs) {
    key += static_cast<char>(t.dtype());
    if (const ResourceHandle* h = handle_of(t)) key += h->device + '\0';
  }
  key += '\0';
  key += device;
  for (const auto& [name, value] : attrs) key += '\0' + name + '=' + value.str();
  return key;
}

// Operations with state of their own need a kernel of their own; variables keep theirs outside.
bool keeps_no_state(const OpDef& op) {
  if (!op.stateful) return true;
  const std::string_view name = op.name;
  return name.starts_with("ResourceApply") || name.starts_with("ResourceScatter") ||
         name.starts_with("ResourceGather") || name.starts_with("ResourceStridedSlice") ||
         (name.starts_with("Assign") && name.ends_with("VariableOp")) ||
         name == "ReadVariableOp" || name == "VariableShape" || name == "VarIsInitializedOp" ||
         name == "DestroyResourceOp";
}

// Attributes that hold whole tensors are not told apart by their text; functions come and go.
bool cacheable(const OpDef& op, const AttrList& attrs) {
  for (const auto& [name, value] : attrs)
    if (value.is<Tensor>() || value.is<std::vector<Tensor>>() || value.is<FunctionName>() ||
        value.is<std::vector<FunctionName>>())
      return false;
  return keeps_no_state(op);
}

}  // namespace

struct Eager::Impl {
  using LogFunction = std::function<void(const std::string&, const std::string&)>;

  explicit Impl(const SessionOptions& o) : Impl(o, make_pools(o)) {}
  Impl(const SessionOptions& o, const Pools& p)
      : Impl(o, p, std::make_shared<std::vector<std::shared_ptr<Device>>>(make_devices(o, p))) {}
  Impl(SessionOptions o, Pools p, std::shared_ptr<std::vector<std::shared_ptr<Device>>> d)
      : options(std::move(o)),
        pools(std::move(p)),
        owned_devices(std::move(d)),
        devices(*owned_devices),
        kernels(kernel_table(options)),
        infos(device_infos(devices, pools)),
        placer(session_placer(options)) {
    soft = options.allow_soft_placement;
    LocalDevices::add_to(resources, owned_devices);
    for (const auto& d : devices)
      if (d->type() == "GPU") types = {"GPU", "CPU"};
  }

  // An iterator holds functions, which hold the resources that hold it.
  ~Impl() { resources.clear(""); }

  Device& host() const { return *devices.front(); }

  Device* find(const DeviceName& spec) const {
    for (const auto& d : devices)
      if (spec.is_specification_of(d->parsed_name())) return d.get();
    return nullptr;
  }

  // A task that isn't this one, and the device there that is asked for; operations follow their
  // resources, and the program's own code runs in its process.
  std::pair<std::shared_ptr<RemoteTask>, std::string> elsewhere(const OpDef& op, std::span<const Tensor> inputs,
                                                                std::string_view wanted) const {
    if (!tasks.any() || is_code(op)) return {};
    for (const Tensor& t : inputs)
      if (const ResourceHandle* h = handle_of(t); h && !h->device.empty()) wanted = h->device;
    if (wanted.empty()) return {};
    auto task = tasks.find(DeviceName::parse(wanted), soft);
    return {std::move(task), std::string(wanted)};
  }

  static bool is_code(const OpDef& op) {
    return op.name == "PyFunc" || op.name == "PyFuncStateless" || op.name == "EagerPyFunc";
  }

  // Soft placement takes another type or number, never another task.
  static DeviceName softened(DeviceName spec) {
    spec.type.reset();
    spec.id.reset();
    return spec;
  }

  Device& device_for(const DeviceName& named) const {
    const DeviceName spec = tasks.local(named);
    Device* d = find(spec);
    if (!d && soft) d = find(softened(spec));
    if (!d) unknown_device(spec);
    return *d;
  }

  // The device an operation runs on, and its kernel there.
  std::pair<Device*, const KernelRow*> choose(const OpDef& op, std::span<const Tensor> inputs,
                                              const AttrList& attrs, std::string_view wanted) const {
    for (const Tensor& t : inputs)
      if (const ResourceHandle* h = handle_of(t); h && !h->device.empty()) wanted = h->device;
    DeviceName spec = wanted.empty() ? DeviceName{} : tasks.local(DeviceName::parse(wanted));
    if (tasks.any() && is_code(op)) spec = {};
    const std::vector<Support> supported = types_with_kernel(op, attrs);
    if (auto found = best(op, attrs, supported, spec); found.second) return found;
    if (soft)
      if (auto found = best(op, attrs, supported, softened(spec)); found.second) return found;
    if (supported.empty()) no_kernel(op, attrs);
    if (!soft && !find(spec)) unknown_device(spec);
    not_there(spec, supported);
  }

  std::pair<Device*, const KernelRow*> best(const OpDef& op, const AttrList& attrs,
                                            std::span<const Support> supported,
                                            const DeviceName& spec) const {
    const int d = placer->place_call({infos, supported, spec});
    if (d < 0) return {nullptr, nullptr};
    Device* const device = devices[static_cast<size_t>(d)].get();
    return {device, kernels.find(op.name, device->type(), attrs)};
  }

  std::vector<Support> types_with_kernel(const OpDef& op, const AttrList& attrs) const {
    std::vector<Support> supported;
    for (const std::string_view type : types)
      if (kernels.find(op.name, type, attrs)) supported.push_back({std::string(type)});
    return supported;
  }

  std::string full_name(DeviceName spec) const {
    spec.merge_unset(host().parsed_name());
    return spec.to_string();
  }

  [[noreturn]] void unknown_device(const DeviceName& spec) const {
    const std::string name = full_name(spec);
    throw Error(Code::kUnknown,
                fmt::format("Error copying tensor to device: {}. {} unknown device.", name, name));
  }

  [[noreturn]] void not_there(const DeviceName& spec,
                              const std::vector<Support>& supported) const {
    std::vector<std::string_view> supported_types, names;
    for (const Support& s : supported) supported_types.push_back(s.type);
    for (const std::string_view type : types)
      for (const auto& d : devices)
        if (d->type() == type) names.push_back(d->name());
    throw invalid_argument(fmt::format(
        "Could not satisfy device specification '{}'. enable_soft_placement={:d}. Supported device "
        "types [{}]. All available devices [{}].",
        full_name(spec), soft.load(), fmt::join(supported_types, ", "), fmt::join(names, ", ")));
  }

  [[noreturn]] void no_kernel(const OpDef& op, const AttrList& attrs) const {
    std::string dtypes;
    for (const auto& [name, value] : attrs)
      if (value.is<DType>()) dtypes += (dtypes.empty() ? "" : ", ") + name + "=" + value.str();
    throw not_found(fmt::format("Could not find device for node: {{{{node {}}}}} = {}[{}]\nAll "
                                "kernels registered for op {}:\n{}",
                                op.name, op.name, dtypes, op.name, kernels.list(op.name)))
        .at_node(op.name, op.name);
  }

  std::shared_ptr<CachedKernel> prepare(const OpDef& op, std::span<const Tensor> inputs,
                                        AttrList attrs, std::string_view device) {
    const bool reusable = cacheable(op, attrs);
    auto k = std::make_shared<CachedKernel>();
    k->op = &op;
    for (const Tensor& t : inputs) k->input_types.push_back(t.dtype());
    k->attrs = complete_attrs(op, k->input_types, std::move(attrs), op.name);
    const auto expected = emplace::input_types(op, k->attrs);
    if (expected.size() != inputs.size())
      throw invalid_argument(fmt::format("{} takes {} inputs but got {}", op.name, expected.size(),
                                         inputs.size()));
    k->output_types = emplace::output_types(op, k->attrs);
    if (auto [task, there] = elsewhere(op, inputs, device); task) {
      k->remote_device = tasks.resolve(DeviceName::parse(there), true);
      k->remote = std::make_unique<PreparedRemoteCall>(
          std::move(task), call_of(op, k->attrs, k->input_types, there,
                                   [this](const std::string& name) { return find_function(name); }));
      k->describe_remote(reusable);
      return k;
    }
    const auto [where, row] = choose(op, inputs, k->attrs, device);
    k->device = where;
    for (const std::string& arg : row->host_args) {
      if (const int i = op.input_index(arg); i >= 0) {
        const ArgRange r = input_range(op, k->attrs, i);
        for (int n = r.begin; n < r.end && n < 64; ++n) k->host_inputs |= uint64_t{1} << n;
      }
      if (const int i = op.output_index(arg); i >= 0) {
        const ArgRange r = output_range(op, k->attrs, i);
        for (int n = r.begin; n < r.end && n < 32; ++n) k->site.host_outputs |= 1u << n;
      }
    }
    // Shapes change from call to call, so the kernel is prepared knowing none.
    const std::vector<Shape> unknown_in(inputs.size(), Shape::unknown());
    const std::vector<Shape> unknown_out(k->output_types.size(), Shape::unknown());
    const std::vector<const Tensor*> no_values(inputs.size(), nullptr);
    KernelInit init;
    init.op = &op;
    init.node = op.name;
    init.attrs = &k->attrs;
    init.input_types = k->input_types;
    init.output_types = k->output_types;
    init.input_shapes = unknown_in;
    init.output_shapes = unknown_out;
    init.input_values = no_values;
    init.device = where;
    init.resources = &resources;
    const FunctionMaker functions = [this](const std::string& name) { return called(name); };
    const FunctionScope scope(functions);
    k->kernel = row->make(init);
    k->operands.resize(inputs.size() + k->output_types.size());
    for (size_t i = 0; i < k->operands.size(); ++i) k->operands[i] = static_cast<uint32_t>(i);
    k->site.operands = k->operands.data();
    k->site.output_types = k->output_types.data();
    k->site.count(inputs.size(), k->output_types.size());
    k->site.device = where;
    k->site.node = &op.name;
    k->describe(reusable, row->traits, host());
    return k;
  }

  std::shared_ptr<CachedKernel> kernel(const OpDef& op, std::span<const Tensor> inputs,
                                       AttrList attrs, std::string_view device) {
    if (!cacheable(op, attrs)) return prepare(op, inputs, std::move(attrs), device);
    const std::string key = bytes_key(op.name, inputs, attrs, device);
    {
      const std::shared_lock lock(cache_mutex);
      if (const auto it = cache.find(key); it != cache.end()) return it->second;
    }
    auto k = prepare(op, inputs, std::move(attrs), device);
    const std::lock_guard lock(cache_mutex);
    if (cache.size() > kMaxKernels) cache.clear();
    cache.emplace(key, k);
    return k;
  }

  // A function's streams of random numbers, which begin anew with all the others.
  std::shared_ptr<ResourceManager> streams(const std::string& scope) {
    const std::lock_guard lock(scopes_mutex);
    std::erase_if(scopes, [](const auto& s) { return s.second.expired(); });
    if (const auto it = scopes.find(scope); it != scopes.end())
      if (auto found = it->second.lock()) return found;
    auto made = std::make_shared<ResourceManager>();
    made->find_or_create("_random_epoch", "", [this] { return random_epoch; });
    if (!scope.empty()) scopes[scope] = made;
    return made;
  }

  std::shared_ptr<const Function> find_function(const std::string& name) {
    const std::lock_guard lock(functions_mutex);
    const auto it = functions.find(name);
    return it == functions.end() ? nullptr : it->second;
  }

  std::shared_ptr<CalledFunction> called(const std::string& name) {
    SessionOptions o = function_options();
    o.allow_soft_placement = true;
    return called_function(
        name, [this](const std::string& wanted) { return find_function(wanted); }, o, kernels,
        {pools, owned_devices, owned_resources, owned_resources});
  }

  std::mutex functions_mutex;
  std::unordered_map<std::string, std::shared_ptr<const Function>> functions;
  EagerTasks tasks;

  static constexpr size_t kMaxKernels = 10'000;
  const SessionOptions options;
  Pools pools;
  const std::shared_ptr<std::vector<std::shared_ptr<Device>>> owned_devices;
  const std::vector<std::shared_ptr<Device>>& devices;
  const KernelRegistry& kernels;
  const std::vector<DeviceInfo> infos;
  const std::unique_ptr<const Placer> placer;
  std::vector<std::string_view> types{"CPU"};  // of our devices, the preferred first
  std::atomic<bool> soft{false};
  const std::shared_ptr<ResourceManager> owned_resources = std::make_shared<ResourceManager>();
  ResourceManager& resources = *owned_resources;
  const std::shared_ptr<RandomEpoch> random_epoch = random_epoch_of(resources);
  std::mutex scopes_mutex;
  std::unordered_map<std::string, std::weak_ptr<ResourceManager>> scopes;
  std::shared_mutex cache_mutex;
  std::unordered_map<std::string, std::shared_ptr<CachedKernel>> cache;
  // Told outside of the lock: it may wait for what another thread holds that runs operations.
  void tell(const std::string& op, const std::string& device) {
    std::unique_lock lock(log_mutex);
    const std::shared_ptr<const LogFunction> told = log;
    lock.unlock();
    if (told) (*told)(op, device);
  }

  SessionOptions function_options() {
    SessionOptions o = options;
    const std::lock_guard lock(placing_mutex);
    take_placer(o, placing);
    return o;
  }

  std::mutex placing_mutex;
  SessionOptions placing = options;  // whose placer functions get
  std::mutex log_mutex;
  std::shared_ptr<const LogFunction> log;
  std::atomic<bool> logging{false};
  const std::shared_ptr<std::atomic<int64_t>> timeout_in_ms =
      std::make_shared<std::atomic<int64_t>>(options.operation_timeout_in_ms);
};

namespace {

// An error of the kernel must not cross the device.
void call_on_device(const CachedKernel& k, KernelContext& c) {
  if (!k.device->is_async()) return k.kernel.run(k.kernel.state.get(), c);
  struct Call {
    const Prepared& kernel;
    KernelContext& context;
    std::exception_ptr error;
  } call{k.kernel, c, nullptr};
  k.device->call([](void* p, uint64_t) {
    Call& x = *static_cast<Call*>(p);
    try {
      x.kernel.run(x.kernel.state.get(), x.context);
    } catch (...) {
      x.error = std::current_exception();
    }
  }, &call, 0);
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace

Eager::Eager(SessionOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Eager::Eager(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::unique_ptr<Eager> eager_over(const SessionOptions& options, const Pools& pools,
                                  std::shared_ptr<std::vector<std::shared_ptr<Device>>> devices) {
  return std::unique_ptr<Eager>(new Eager(std::make_unique<Eager::Impl>(options, pools, std::move(devices))));
}
Eager::~Eager() {
  if (LiveWork::left_behind()) impl_.release();
}

std::vector<Tensor> Eager::execute(std::string_view name, std::span<const Tensor> inputs,
                                   AttrList attrs, std::string_view device) {
  const auto call = prepare(name, inputs, std::move(attrs), device);
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  values.resize(static_cast<size_t>(call->num_inputs() + call->num_outputs()));
  run(*call, values.data());
  values.erase(values.begin(), values.begin() + call->num_inputs());
  return values;
}

std::shared_ptr<const EagerCall> Eager::prepare(std::string_view name,
                                                std::span<const Tensor> inputs, AttrList attrs,
                                                std::string_view device) {
  const OpDef& op = op_catalogue().get(name);
  try {
    check_not_removed(name, GraphVersions{}.producer);
    return impl_->kernel(op, inputs, std::move(attrs), device);
  } catch (Error& e) {
    e.at_node(op.name, op.name);
    throw;
  }
}

void Eager::run(const EagerCall& call, Tensor* values) {
  run_as_one([&] { run_quick(call, values); });
}

void Eager::run_as_one(const std::function<void()>& body) {
  EagerHost::of_thread().work(impl_->timeout_in_ms->load(std::memory_order_relaxed), body);
}

std::optional<Error> Eager::why_ended() { return EagerHost::of_thread().why(); }

void Eager::run_quick(const EagerCall& call, Tensor* values) {
  EagerHost& host = EagerHost::of_thread();
  EagerHost::attend();
  const auto& k = static_cast<const CachedKernel&>(call);
  try {
    if (impl_->logging.load(std::memory_order_relaxed)) impl_->tell(k.op->name, k.place());
    if (k.remote) [[unlikely]] {
      auto outputs = k.remote->run({values, k.input_types.size()}, operation_timeout());
      std::ranges::move(outputs, values + k.input_types.size());
      return;
    }
    for (int i = 0; i < k.site.num_inputs; ++i) {
      Device* const wanted = i < 64 && (k.host_inputs >> i & 1) ? nullptr : k.device;
      if (values[i].device() || (wanted && wanted->is_async()))
        values[i] = in_memory_of(values[i], wanted);
    }
    KernelContext c;
    c.slots_ = values;
    c.site_ = &k.site;
    c.host_ = &host;
    call_on_device(k, c);
    host.finish();
  } catch (Error& e) {
    e.at_node(k.op->name, k.op->name).on_device(k.remote_device);
    throw;
  } catch (const std::bad_alloc&) {
    throw resource_exhausted("out of memory").at_node(k.op->name, k.op->name);
  }
}

std::shared_ptr<EagerFunction> Eager::prepare(std::shared_ptr<Graph> graph,
                                              std::vector<Output> inputs,
                                              std::vector<Output> outputs,
                                              std::vector<Node*> effects, std::string device,
                                              std::string random_scope) {
  SessionOptions options = impl_->function_options();
  options.allow_soft_placement = impl_->soft;
  options.log_device_placement = false;
  options.operation_timeout_in_ms = 0;  // what counts at the time of the call, is given with it
  Signature signature{std::move(inputs), std::move(outputs), std::move(effects), {}, true};
  auto spread = std::make_unique<SpreadFunction>(*this, impl_->tasks, graph, signature, device, random_scope);
  const DeviceName spec = device.empty() ? DeviceName{} : DeviceName::parse(device);
  if (impl_->tasks.find(spec, true)) device.clear();  // what is left for this task then
  auto made = std::make_unique<EagerFunction::Impl>(
      std::move(graph), std::move(options), impl_->kernels,
      SharedParts{impl_->pools, impl_->owned_devices, impl_->owned_resources,
                  impl_->streams(random_scope)},
      impl_->timeout_in_ms, std::move(device), std::move(signature));
  made->spread = std::move(spread);
  return std::make_shared<EagerFunction>(std::move(made));
}

Tensor Eager::copy_to(const Tensor& t, std::string_view device) {
  if (device.empty()) return in_memory_of(t, nullptr);
  if (impl_->tasks.find(DeviceName::parse(device), impl_->soft)) return execute("Identity", {{t}}, {}, device)[0];
  return in_memory_of(t, &impl_->device_for(DeviceName::parse(device)));
}

std::string Eager::device_of(const Tensor& t) const {
  if (t.dtype() == DType::kResource && task_that_holds(t)) return t.data<ResourceHandle>()->device;
  return t.device() ? t.device()->name() : impl_->host().name();
}

std::string Eager::resolve(std::string_view name) const {
  const DeviceName spec = DeviceName::parse(name);
  if (std::string there = impl_->tasks.resolve(spec, impl_->soft); !there.empty()) return there;
  return impl_->device_for(spec).name();
}

std::vector<DeviceAttributes> Eager::list_devices() const {
  std::vector<DeviceAttributes> list;
  for (const auto& d : impl_->devices)
    list.push_back({d->name(), d->type(), d->description(), d->memory_limit(), d->incarnation()});
  for (DeviceAttributes& d : impl_->tasks.devices()) list.push_back(std::move(d));
  return list;
}

void Eager::restart_random() {
  impl_->resources.clear("_random");
  ++impl_->random_epoch->number;
}

void Eager::set_tasks(std::vector<std::shared_ptr<RemoteTask>> tasks, const std::string& own) {
  impl_->tasks.set(std::move(tasks), own);
  const std::lock_guard lock(impl_->cache_mutex);
  impl_->cache.clear();  // what was chosen without them
}

void Eager::set_collectives(std::shared_ptr<Resource> of_task) {
  impl_->resources.erase("_collectives", "");
  if (of_task) impl_->resources.find_or_create("_collectives", "", [&] { return of_task; });
}

void Eager::forget(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) return;
  const auto& h = *handle.data<ResourceHandle>();
  impl_->resources.erase(h.container, h.name);
}

void Eager::add_function(std::shared_ptr<const Function> f) {
  check_complete(f.get());
  const std::lock_guard lock(impl_->functions_mutex);
  auto& known = impl_->functions[f->name];
  if (known && !same_function(*known, *f))
    throw invalid_argument(
        fmt::format("Function '{}' is there already, with another definition", f->name));
  known = std::move(f);
}

void Eager::remove_function(const std::string& name) {
  const std::lock_guard lock(impl_->functions_mutex);
  impl_->functions.erase(name);
}

void Eager::set_soft_placement(bool on) {
  impl_->soft = on;
  const std::lock_guard lock(impl_->cache_mutex);
  impl_->cache.clear();  // what was chosen under the other rule
}

void Eager::set_placer(const SessionOptions& options) {
  check_placer(options);
  const std::lock_guard lock(impl_->placing_mutex);
  impl_->placing = options;
}

void Eager::check_placer(const SessionOptions& options) { session_placer(options); }

void Eager::set_operation_timeout(int64_t ms) { *impl_->timeout_in_ms = ms; }
int64_t Eager::operation_timeout() const { return *impl_->timeout_in_ms; }

void Eager::set_log(std::function<void(const std::string&, const std::string&)> log) {
  const std::lock_guard lock(impl_->log_mutex);
  impl_->logging = static_cast<bool>(log);
  impl_->log = log ? std::make_shared<const Impl::LogFunction>(std::move(log)) : nullptr;
}

}  // namespace emplace
