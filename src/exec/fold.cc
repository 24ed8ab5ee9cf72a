#include "exec/fold.h"

#include <algorithm>
#include <limits>

#include "kernel/kernel.h"

namespace emplace {
namespace {

constexpr int64_t kMaxElements = 256;

bool small_integer(DType t, const Shape& s) {
  return (t == DType::kInt32 || t == DType::kInt64 || t == DType::kBool) && s.is_fully_known() &&
         s.num_elements() <= kMaxElements;
}

template <class T>
Tensor as_tensor(std::span<const int64_t> values, Shape shape) {
  Tensor t(DTypeOf<T>::value, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = static_cast<T>(values[i]);
  return t;
}

// Nothing where they don't fit: the kernel says so when it runs.
std::optional<Tensor> integers(DType dtype, std::span<const int64_t> values, Shape shape) {
  const auto large = [](int64_t v) { return v > std::numeric_limits<int32_t>::max(); };
  if (dtype != DType::kInt64 && std::ranges::any_of(values, large)) return {};
  return dtype == DType::kInt64 ? as_tensor<int64_t>(values, std::move(shape))
                                : as_tensor<int32_t>(values, std::move(shape));
}

// Shape, Size and Rank need their input's shape only.
std::optional<Tensor> of_shape(const StepGraph& g, const Step& step) {
  const std::string& type = step.node->type();
  if (step.inputs.size() != 1 || step.outputs.size() != 1) return {};
  const Shape& s = g.out(step.inputs[0]).shape;
  const DType t = step.outputs[0].dtype;
  if (type == "Rank" && s.has_rank()) {
    const int64_t rank = s.rank();
    return integers(t, std::span(&rank, 1), {});
  }
  if (!s.is_fully_known()) return {};
  if (type == "Shape") return integers(t, s.dims(), {s.rank()});
  if (type == "Size") {
    const int64_t n = s.num_elements();
    return integers(t, std::span(&n, 1), {});
  }
  return {};
}

// ShapeN, the same of several.
std::vector<Tensor> of_shapes(const StepGraph& g, const Step& step) {
  std::vector<Tensor> all;
  if (step.node->type() != "ShapeN" || step.inputs.size() != step.outputs.size()) return all;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& s = g.out(step.inputs[i]).shape;
    std::optional<Tensor> t;
    if (s.is_fully_known()) t = integers(step.outputs[i].dtype, s.dims(), {s.rank()});
    if (!t) return {};
    all.push_back(std::move(*t));
  }
  return all;
}

// Runs one host kernel by itself.
class PlanTimeHost : public KernelHost {
 public:
  Tensor allocate(KernelContext&, int, DType dtype, const Shape& shape, bool) override {
    if (shape.num_elements() > kMaxElements) throw out_of_range("too large to fold");
    return Tensor(dtype, shape);
  }
  std::unique_ptr<Continuation> suspend(KernelContext&) override {
    throw internal_error("a folded kernel can't wait");
  }
  Cancellation& cancellation() override { return cancellation_; }
  uint64_t step_id() const override { return 0; }

 private:
  Cancellation cancellation_;
};

std::vector<Tensor> evaluate(const StepGraph& g, const Step& step, PlanEnvironment& env) {
  const Node& n = *step.node;
  const KernelRow* row = env.kernels().find(n.type(), "CPU", n.attrs());
  if (!row || row->traits.blocks) return {};
  std::vector<Tensor> slots;
  std::vector<DType> in_types, out_types;
  std::vector<Shape> in_shapes, out_shapes;
  std::vector<const Tensor*> values;
  for (Port p : step.inputs) {
    slots.push_back(g.out(p).value());
    in_types.push_back(g.out(p).dtype);
    in_shapes.push_back(g.out(p).shape);
    values.push_back(&g.out(p).value());
  }
  for (const StepOutput& o : step.outputs) {
    slots.emplace_back();
    out_types.push_back(o.dtype);
    out_shapes.push_back(o.shape);
  }
  KernelInit init;
  init.op = &n.op();
  init.node = n.name();
  init.attrs = &n.attrs();
  init.input_types = in_types;
  init.output_types = out_types;
  init.input_shapes = in_shapes;
  init.output_shapes = out_shapes;
  init.input_values = values;
  init.device = env.host();
  init.resources = &env.resources();
  const Prepared kernel = row->make(init);
  std::vector<uint32_t> operands(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) operands[i] = static_cast<uint32_t>(i);
  CallSite site;
  site.operands = operands.data();
  site.output_types = out_types.data();
  site.count(step.inputs.size(), step.outputs.size());
  site.host_outputs = ~0u;
  site.device = env.host();
  site.node = &n.name();
  PlanTimeHost host;
  KernelContext c;
  c.slots_ = slots.data();
  c.site_ = &site;
  c.host_ = &host;
  kernel.run(kernel.state.get(), c);
  return {slots.begin() + static_cast<int64_t>(step.inputs.size()), slots.end()};
}

}  // namespace

std::vector<Tensor> fold_integers(const StepGraph& g, const Step& step, PlanEnvironment& env) {
  if (step.kind != StepKind::kKernel || !step.row || step.outputs.empty()) return {};
  for (const StepOutput& o : step.outputs)
    if (!small_integer(o.dtype, o.shape)) return {};
  if (auto t = of_shape(g, step)) return {std::move(*t)};
  if (auto all = of_shapes(g, step); !all.empty()) return all;
  if (step.inputs.empty() || step.node->op().stateful) return {};
  for (Port p : step.inputs)
    if (!g.out(p).has_value() || g.out(p).value().num_elements() > kMaxElements) return {};
  try {
    return evaluate(g, step, env);
  } catch (const Error&) {
    return {};  // it will say so again when it runs
  }
}

}  // namespace emplace
