#include "session/eager_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "graph/graph_def.h"

namespace emplace {
namespace {

// A device of another task: values in its memory have no address here.
class RemoteDevice final : public Device {
 public:
  explicit RemoteDevice(const std::string& name) : Device(DeviceName::parse(name), "", 0) {}
  BufferPtr allocate(size_t, std::string_view) override { not_here(); }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void*, const void*, size_t) override { not_here(); }
  void call(Queue::Fn, void*, uint64_t) override { not_here(); }
  ThreadPool& inter_op() override { not_here(); }
  ThreadPool& intra_op() override { not_here(); }
  bool owns(const void*) const override { return false; }

 private:
  [[noreturn]] void not_here() const { throw internal_error(name() + " is another task's"); }
};

// A number for a value in a task, which forgets the value with it.
struct Held {
  Held(std::shared_ptr<RemoteTask> task, uint64_t id) : task(std::move(task)), id(id) {}
  ~Held() { task->drop_value(id); }
  Held(const Held&) = delete;
  const std::shared_ptr<RemoteTask> task;
  const uint64_t id;
};

struct RemoteBuffer final : Buffer {
  RemoteBuffer(size_t bytes, std::shared_ptr<Device> device, std::shared_ptr<RemoteTask> task,
               uint64_t id)
      : Buffer(nullptr, bytes, device.get()), device(device), held(std::move(task), id) {}
  const std::shared_ptr<Device> device;
  const Held held;
};

struct RemoteResource final : Resource {
  RemoteResource(std::shared_ptr<RemoteTask> task, uint64_t id) : held(std::move(task), id) {}
  std::string debug_string() const override { return "of " + held.task->name(); }
  const Held held;
};

const Held* held_by(const Tensor& t) {
  if (t.device()) {
    const auto* const buffer = dynamic_cast<const RemoteBuffer*>(t.buffer().get());
    return buffer ? &buffer->held : nullptr;
  }
  if (t.dtype() != DType::kResource || t.num_elements() != 1) return nullptr;
  const auto* const resource =
      dynamic_cast<const RemoteResource*>(t.data<ResourceHandle>()->resource.get());
  return resource ? &resource->held : nullptr;
}

Tensor tensor_of(const std::shared_ptr<RemoteTask>& task, const RemoteOutput& out, uint64_t id) {
  if (out.dtype == DType::kResource && out.shape.rank() == 0) {
    Tensor t(DType::kResource, Shape{});
    ResourceHandle& h = *t.data<ResourceHandle>();
    h = out.handle;
    h.resource = std::make_shared<RemoteResource>(task, id);
    return t;
  }
  auto device =
      task->device(out.device, [&] { return std::make_shared<RemoteDevice>(out.device); });
  const size_t bytes = static_cast<size_t>(out.shape.num_elements()) * dtype_size(out.dtype);
  return Tensor(out.dtype, out.shape,
                BufferPtr(new RemoteBuffer(bytes, std::move(device), task, id)));
}

RemoteInput input_of(const RemoteTask& task, const Tensor& t) {
  const Held* const held = held_by(t);
  if (held && held->task.get() == &task) return {held->id, {}};
  if (t.dtype() == DType::kResource)
    throw invalid_argument(fmt::format("{} can't use a resource of {}.", task.name(),
                                       held ? held->task->name() : "this process"));
  return {0, brought_here(t)};
}

}  // namespace

const RemoteTask* task_that_holds(const Tensor& t) {
  const Held* const held = held_by(t);
  return held ? held->task.get() : nullptr;
}

Tensor brought_here(const Tensor& t) {
  if (!t.device()) return t;
  if (const Held* const held = held_by(t)) return held->task->fetch(held->id);
  Tensor copy(t.dtype(), t.shape());
  if (t.bytes() > 0) t.device()->copy(copy.raw(), t.raw(), t.bytes());
  return copy;
}

PreparedRemoteCall::PreparedRemoteCall(std::shared_ptr<RemoteTask> task, RemoteCall call)
    : task_(std::move(task)), call_(std::move(call)), number_(task_->number()) {}

PreparedRemoteCall::~PreparedRemoteCall() {
  if (told_) task_->drop_call(number_);
}

std::vector<Tensor> PreparedRemoteCall::run(std::span<const Tensor> inputs,
                                            int64_t timeout_ms) const {
  std::vector<RemoteInput> given;
  for (const Tensor& t : inputs) given.push_back(input_of(*task_, t));
  const uint64_t first = task_->numbers_for(call_.fetches.size());
  const bool told = told_;
  const std::vector<RemoteOutput> made =
      task_->run(number_, told ? nullptr : &call_, given, first, timeout_ms);
  told_ = true;
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < made.size(); ++i) outputs.push_back(tensor_of(task_, made[i], first + i));
  return outputs;
}

void EagerTasks::set(std::vector<std::shared_ptr<RemoteTask>> tasks, const std::string& own) {
  const std::lock_guard lock(mutex_);
  for (auto& t : tasks)
    for (const auto& known : tasks_)
      if (known->name() == t->name() && known->address() == t->address() && known->lives())
        t = known;
  tasks_ = std::move(tasks);
  own_.reset();
  if (!own.empty()) own_ = DeviceName::parse(own);
  any_ = !tasks_.empty();
}

std::vector<DeviceAttributes> EagerTasks::devices() const {
  const std::shared_lock lock(mutex_);
  std::vector<DeviceAttributes> all;
  for (const auto& t : tasks_) all.insert(all.end(), t->devices().begin(), t->devices().end());
  return all;
}

bool EagerTasks::is_own(const DeviceName& spec) const {
  if (!spec.job && !spec.replica && !spec.task) return true;
  static const DeviceName local = DeviceName::of_task("localhost", 0, 0);
  DeviceName of_task = spec;
  of_task.type.reset();
  of_task.id.reset();
  return of_task.is_specification_of(local) || (own_ && of_task.is_specification_of(*own_));
}

DeviceName EagerTasks::local(DeviceName spec) const {
  const std::shared_lock lock(mutex_);
  if (any_ && is_own(spec)) {
    spec.job.reset();
    spec.replica.reset();
    spec.task.reset();
  }
  return spec;
}

std::shared_ptr<RemoteTask> EagerTasks::find(const DeviceName& spec, bool soft) const {
  if (!any_) return nullptr;
  const std::shared_lock lock(mutex_);
  if (is_own(spec)) return nullptr;
  DeviceName softened = spec;
  softened.type.reset();
  softened.id.reset();
  for (const auto& t : tasks_)
    for (const DeviceAttributes& d : t->devices())
      if ((soft ? softened : spec).is_specification_of(DeviceName::parse(d.name))) return t;
  DeviceName full = spec;
  full.merge_unset(DeviceName::parse("/job:localhost/replica:0/task:0/device:CPU:0"));
  throw invalid_argument(full.to_string() + " unknown device.");
}

std::string EagerTasks::resolve(const DeviceName& spec, bool soft) const {
  const auto task = find(spec, soft);
  if (!task) return "";
  for (const DeviceAttributes& d : task->devices())
    if (spec.is_specification_of(DeviceName::parse(d.name))) return d.name;
  return task->devices().front().name;
}

RemoteCall call_of(const OpDef& op, const AttrList& attrs, std::span<const DType> input_types,
                   std::string device, const FunctionLookup& find) {
  Graph graph;
  const auto add = [&](const FunctionName& f) {
    if (const auto found = find(f.name)) add_with_called(graph, found, find);
  };
  for (const auto& [name, value] : attrs) {
    if (value.is<FunctionName>()) add(value.as<FunctionName>());
    if (value.is<std::vector<FunctionName>>())
      for (const FunctionName& f : value.as<std::vector<FunctionName>>()) add(f);
  }
  RemoteCall call;
  std::vector<Output> inputs;
  for (const DType t : input_types) {
    inputs.push_back(graph.add("Placeholder", {}, {{"dtype", t}})->output());
    call.feeds.push_back(inputs.back().name());
  }
  Node* const node = graph.add(op.name, std::span<const Output>(inputs), attrs);
  for (int i = 0; i < node->num_outputs(); ++i) call.fetches.push_back(node->output(i).name());
  if (call.fetches.empty()) call.targets.push_back(node->name());
  to_proto(graph, {}, &call.graph);
  call.device = std::move(device);
  return call;
}

RemoteCall call_of(const Graph& graph, const Signature& signature, std::string device,
                   std::string random_scope) {
  RemoteCall call;
  to_proto(graph, {}, &call.graph);
  for (const Output& o : signature.feeds) call.feeds.push_back(o.name());
  for (const Output& o : signature.fetches) call.fetches.push_back(o.name());
  for (const Node* n : signature.targets) call.targets.push_back(n->name());
  call.device = std::move(device);
  call.random_scope = std::move(random_scope);
  return call;
}

}  // namespace emplace
