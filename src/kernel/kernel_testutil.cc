#include <fmt/format.h>

#include "kernel/test_kernel.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

class TestDevice : public Device {
 public:
  explicit TestDevice(int threads)
      : Device(DeviceName::parse("/job:localhost/replica:0/task:0/device:CPU:0"), "", int64_t{1} << 30),
        pool_({.name = "test", .num_threads = threads, .cores = {}}) {}

  BufferPtr allocate(size_t bytes, std::string_view) override {
    return Tensor(DType::kInt8, Shape{static_cast<int64_t>(bytes)}).buffer();
  }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  ThreadPool& inter_op() override { return pool_; }
  ThreadPool& intra_op() override { return pool_; }
  bool owns(const void*) const override { return true; }

 private:
  ThreadPool pool_;
};

class TestHost : public KernelHost {
 public:
  Tensor allocate(KernelContext&, int, DType dtype, const Shape& shape, bool) override {
    return Tensor(dtype, shape);
  }
  std::unique_ptr<Continuation> suspend(KernelContext&) override {
    throw unimplemented("a kernel under test may not suspend itself");
  }
  Cancellation& cancellation() override { return cancellation_; }
  uint64_t step_id() const override { return 1; }

 private:
  Cancellation cancellation_;
};

std::vector<Tensor> call_kernel(const Prepared& kernel, Device& device, const std::string& node,
                                std::vector<Tensor> slots, size_t inputs,
                                std::span<const DType> output_types, bool planned) {
  std::vector<uint32_t> operands(slots.size());
  for (size_t i = 0; i < operands.size(); ++i) operands[i] = static_cast<uint32_t>(i);
  CallSite site;
  site.operands = operands.data();
  site.output_types = output_types.data();
  site.planned = planned ? ~0u : 0;
  site.count(inputs, output_types.size());
  site.device = &device;
  site.node = &node;
  TestHost host;
  KernelContext context;
  context.slots_ = slots.data();
  context.site_ = &site;
  context.host_ = &host;
  kernel.run(kernel.state.get(), context);
  return {slots.begin() + static_cast<std::ptrdiff_t>(inputs), slots.end()};
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  if (!is_plain(a.dtype())) return true;
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// What the shape rule says when it knows less must not contradict the kernel either.
template <class Call>
void check_partly_known(const Call& call, const std::vector<Tensor>& expected) {
  for (int known = 0; known < 3; ++known) {  // nothing; ranks and values; all but the first sizes
    std::vector<ShapeContext::Input> inputs(call.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = call.inputs[i];
      inputs[i].dtype = call.input_types[i];
      if (known == 0) continue;
      if (known == 1 && is_plain(t.dtype())) inputs[i].value = &t;
      inputs[i].shape = t.shape();
      for (int d = 0; d < (known == 1 ? t.rank() : std::min(t.rank(), 1)); ++d)
        if (!inputs[i].value || t.rank() > 1) inputs[i].shape.set_dim(d, Shape::kUnknown);
    }
    ShapeContext shapes(call.op, call.attrs, inputs, static_cast<int>(expected.size()));
    call.op.shape_rule(shapes);
    for (size_t i = 0; i < expected.size(); ++i)
      if (!shapes.output(static_cast<int>(i)).compatible_with(expected[i].shape()))
        throw internal_error(fmt::format("{}: knowing less, the shape rule says {}, the kernel "
                                         "made {}", call.op.name,
                                         shapes.output(static_cast<int>(i)).str(),
                                         expected[i].shape().str()));
  }
}

}  // namespace

struct TestKernels::Call {
  const OpDef& op;
  const KernelRow* row;
  std::string node;
  std::vector<Tensor> inputs;
  AttrList attrs;
  std::vector<DType> input_types, output_types;

  KernelInit init(Device& device, ResourceManager& resources) const {
    KernelInit i;
    i.op = &op;
    i.node = node;
    i.attrs = &attrs;
    i.input_types = input_types;
    i.output_types = output_types;
    i.device = &device;
    i.resources = &resources;
    return i;
  }
};

TestKernels::TestKernels(const KernelRegistry& kernels, int threads)
    : kernels_(kernels), device_(std::make_unique<TestDevice>(threads)) {}
TestKernels::~TestKernels() = default;

std::vector<Tensor> TestKernels::run(std::string_view op, std::vector<Tensor> inputs,
                                     AttrList attrs, std::string_view node) {
  const OpDef& def = op_catalogue().get(op);
  Call call{def, nullptr, std::string(node), std::move(inputs), {}, {}, {}};
  std::vector<DType> given;
  for (const Tensor& t : call.inputs) given.push_back(t.dtype());
  // A ref input is handed over as a handle; its dtype is the variable's.
  for (size_t i = 0; i < def.inputs.size() && i < given.size(); ++i)
    if (def.inputs[i].is_ref && given[i] == DType::kResource)
      given[i] = dynamic_cast<Variable&>(*call.inputs[i].data<ResourceHandle>()->resource).dtype();
  call.attrs = complete_attrs(def, given, std::move(attrs));
  call.input_types = input_types(def, call.attrs);
  call.output_types = output_types(def, call.attrs);
  if (call.input_types.size() != call.inputs.size())
    throw invalid_argument(fmt::format("{} takes {} inputs", op, call.input_types.size()));
  call.row = kernels_.find(op, "CPU", call.attrs);
  if (!call.row) throw not_found(fmt::format("no CPU kernel for {}", op));
  auto outputs = run_dynamic(call);
  if (!def.stateful) {
    check_static(call, outputs);
    check_partly_known(call, outputs);
  }
  return outputs;
}

std::vector<Tensor> TestKernels::run_dynamic(Call& call) {
  KernelInit init = call.init(*device_, resources_);
  std::vector<Shape> in(call.inputs.size(), Shape::unknown());
  std::vector<Shape> out(call.output_types.size(), Shape::unknown());
  std::vector<const Tensor*> values(call.inputs.size(), nullptr);
  init.input_shapes = in;
  init.output_shapes = out;
  init.input_values = values;
  std::vector<Tensor> slots = call.inputs;
  slots.resize(slots.size() + call.output_types.size());
  return call_kernel(call.row->make(init), *device_, call.node, std::move(slots),
                     call.inputs.size(), call.output_types, false);
}

void TestKernels::check_static(Call& call, const std::vector<Tensor>& expected) {
  std::vector<ShapeContext::Input> inputs(call.inputs.size());
  std::vector<Shape> in, out;
  std::vector<const Tensor*> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].shape = call.inputs[i].shape();
    inputs[i].dtype = call.input_types[i];
    inputs[i].value = is_plain(call.inputs[i].dtype()) ? &call.inputs[i] : nullptr;
    in.push_back(inputs[i].shape);
    values.push_back(inputs[i].value);
  }
  ShapeContext shapes(call.op, call.attrs, inputs, static_cast<int>(expected.size()));
  call.op.shape_rule(shapes);
  bool plain = true, known = true;
  std::vector<Tensor> slots = call.inputs;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Shape& s = shapes.output(static_cast<int>(i));
    if (!s.compatible_with(expected[i].shape()))
      throw internal_error(fmt::format("{}: the shape rule says {}, the kernel made {}",
                                       call.op.name, s.str(), expected[i].shape().str()));
    out.push_back(s);
    plain = plain && is_plain(expected[i].dtype());
    known = known && s.is_fully_known();
    if (known) slots.emplace_back(call.output_types[i], s);
  }
  if (!plain || !known) return;
  KernelInit init = call.init(*device_, resources_);
  init.input_shapes = in;
  init.output_shapes = out;
  init.input_values = values;
  auto again = call_kernel(call.row->make(init), *device_, call.node, std::move(slots),
                           call.inputs.size(), call.output_types, true);
  for (size_t i = 0; i < expected.size(); ++i)
    if (!same_bytes(expected[i], again[i]))
      throw internal_error(fmt::format("{}: output {} differs when planned:\n{}\n{}", call.op.name,
                                       i, expected[i].str(), again[i].str()));
}

}  // namespace emplace
