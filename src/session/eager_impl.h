#pragma once
// What an eager engine consists of; eager.cc alone includes it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/device_name.h"
#include "emplace/eager.h"
#include "kernel/random_stream.h"
#include "session/called_function.h"
#include "session/eager_tasks.h"
#include "session/local_devices.h"
#include "session/runtime.h"
#include "session/session_placer.h"
#include "tensor/attr_key.h"

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
  for (const auto& [name, value] : attrs) key += '\0' + name + '=' + attr_key(value);
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

  Impl(const SessionOptions& o, const Pools& p, const DeviceName& task)
      : Impl(o, p,
             std::make_shared<std::vector<std::shared_ptr<Device>>>(make_devices(o, p, task))) {}
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

}  // namespace emplace
