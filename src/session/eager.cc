#include "emplace/eager.h"

#include "graph/function_op.h"
#include "graph/removed_ops.h"
#include "session/eager_function.h"
#include "session/eager_host.h"
#include "session/eager_impl.h"
#include "session/eager_profile.h"
#include "session/memory_limits.h"

namespace emplace {
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

DeviceName full_task(const std::string& task) {
  DeviceName name = DeviceName::parse(task);
  name.merge_unset(local_task());
  return name;
}

}  // namespace

Eager::Eager(SessionOptions options, const std::string& task)
    : impl_(std::make_unique<Impl>(options, make_pools(options), full_task(task))) {}
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
    std::optional<EagerProfile::Call> noted;
    if (EagerProfile::get().on()) [[unlikely]]
      noted.emplace(k.op->name, k.place());
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
    tell_host_holders(e, impl_->resources);
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

void Eager::limit_memory(const std::string& device, int64_t bytes) {
  emplace::limit_memory(impl_->devices, device, bytes);
}

int64_t Eager::trim() { return trim_memory(impl_->devices); }

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
