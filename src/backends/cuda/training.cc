// Steps of optimizers: device/training.cuh.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/resource_variable.h"

namespace emplace::cuda {
namespace {

// Must look as device/training.cuh's does.
struct Scalars {
  const void* p[8] = {};
  int32_t flag = 0;
};

struct Rule {
  const char* name;      // of the template
  int variables;         // the variable and its slots, the first inputs
  const char* flag;      // attribute, or null
  bool complex = false;  // complex numbers too, where dense
};
constexpr Rule kRules[] = {
    {"GradientDescent", 1, nullptr, true},  {"Momentum", 2, "use_nesterov", true},
    {"KerasMomentum", 2, "use_nesterov", true}, {"Adam", 3, "use_nesterov", true},
    {"Adagrad", 2, "update_slots", true},   {"AdagradV2", 2, "update_slots", true},
    {"RMSProp", 3, nullptr, true},          {"Adadelta", 3, nullptr, true},
    {"CenteredRMSProp", 4, nullptr, true},  {"Ftrl", 3, "multiply_linear_by_lr"},
    {"FtrlV2", 3, "multiply_linear_by_lr"}, {"AdaMax", 3, nullptr},
    {"AdamWithAmsgrad", 4, nullptr},  {"AddSign", 2, nullptr},
    {"PowerSign", 2, nullptr},        {"ProximalAdagrad", 2, nullptr},
};

const Rule& rule_of(const std::string& op) {
  std::string_view name = op;
  for (const std::string_view prefix : {"Resource", "Sparse", "Apply"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  for (const Rule& r : kRules)
    if (name == r.name) return r;
  throw internal_error("no rule for " + op);
}

// Holds variables, all private to the call, while f() runs; tensors[i] is inputs[i]'s. Whoever holds
// several takes them in one order.
template <class F>
void with_variables(KernelContext& c, std::span<const int> inputs, std::vector<Tensor*>& tensors,
                    F&& f) {
  std::vector<std::pair<Variable*, size_t>> order;
  for (size_t i = 0; i < inputs.size(); ++i) order.push_back({&c.variable(inputs[i]), i});
  std::sort(order.begin(), order.end());
  for (const auto& [variable, at] : order) check_exists(*variable);
  tensors.assign(inputs.size(), nullptr);
  const std::function<void(size_t)> hold = [&](size_t k) {
    if (k == order.size()) return f();
    if (k > 0 && order[k].first == order[k - 1].first)
      throw invalid_argument("a variable is stepped twice at once");
    order[k].first->update(c.own_aliases(), [&](Tensor& t) {
      tensors[order[k].second] = &t;
      hold(k + 1);
    });
  };
  hold(0);
}

void check_shapes(std::span<Tensor* const> v, const Tensor* grad) {
  for (const Tensor* slot : v)
    if (!(slot->shape() == v[0]->shape()))
      throw invalid_argument(fmt::format("var and its slots do not have the same shape{} {}",
                                         v[0]->shape().str(), slot->shape().str()));
  if (grad && !(grad->shape() == v[0]->shape()))
    throw invalid_argument(fmt::format("var and grad do not have the same shape{} {}",
                                       v[0]->shape().str(), grad->shape().str()));
}

struct Step {
  Gpu* gpu;
  CUfunction f;
  int variables, grad, indices;  // positions of inputs; indices: -1 when dense
  std::vector<int> scalars;
  bool flag, is_ref;

  void operator()(KernelContext& c) const {
    Scalars s;
    s.flag = flag;
    for (size_t i = 0; i < scalars.size(); ++i) s.p[i] = c.input(scalars[i]).raw();
    const Tensor& g = c.input(grad);
    std::vector<int> inputs(static_cast<size_t>(variables));
    std::iota(inputs.begin(), inputs.end(), 0);
    std::vector<Tensor*> v;
    with_variables(c, inputs, v, [&] {
      void* at[4] = {};
      check_shapes(v, indices < 0 ? &g : nullptr);
      for (size_t i = 0; i < v.size(); ++i) at[i] = v[i]->raw();
      if (indices >= 0) return sparse(c, *v[0], at, g, s);
      if (const int64_t n = g.num_elements())
        launch_kernel(*gpu, f, grid_for(*gpu, n), at[0], at[1], at[2], at[3], g.raw(), n, s);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
  void sparse(KernelContext& c, const Tensor& var, void** at, const Tensor& g,
              const Scalars& s) const {
    const int64_t rows = var.dim(0), count = c.input(indices).num_elements();
    if (rows == 0 || count == 0) return;
    const int64_t inner = var.num_elements() / rows;
    if (g.num_elements() != count * inner)
      throw invalid_argument("grad must have a row for each index: " + g.shape().str());
    launch_kernel(*gpu, f, grid_for(*gpu, inner), at[0], at[1], at[2], at[3], g.raw(),
                  c.input(indices).raw(), count, rows, inner, s);
  }
};

// Which inputs are what; the function is the caller's.
Step inputs_of(const KernelInit& init, size_t count) {
  const OpDef& op = *init.op;
  const Rule& rule = rule_of(op.name);
  Step step{&gpu_of(*init.device), nullptr, rule.variables, -1, op.input_index("indices"), {},
            false, op.name.rfind("Resource", 0) != 0};
  for (int i = rule.variables; i < static_cast<int>(count); ++i) {
    const std::string& arg = op.inputs[static_cast<size_t>(i)].name;
    if (arg == "grad" || arg == "delta") step.grad = i;
    else if (arg != "indices") step.scalars.push_back(i);
  }
  if (rule.flag)
    if (const AttrValue* v = init.find(rule.flag)) step.flag = v->as<bool>();
  return step;
}

Prepared make_step(const KernelInit& init) {
  const Rule& rule = rule_of(init.op->name);
  Step step = inputs_of(init, init.input_types.size());
  const std::string_view t = device_type(init.type("T"));
  step.f = step.gpu->jit().get(
      "training",
      step.indices < 0
          ? fmt::format("dense_step<{}, {}, {}>", rule.name, t, rule.variables)
          : fmt::format("sparse_step<{}, {}, {}, {}>", rule.name, t,
                        device_type(init.input_types[static_cast<size_t>(step.indices)]),
                        rule.variables));
  return prepared(std::move(step));
}

// ---- Several variables by one rule, in one launch.

constexpr int kMostSteps = 32;  // device/training.cuh's
constexpr int64_t kStepBlock = 1024;
struct OneStep {
  void* v[4] = {};
  const void* grad = nullptr;
  int64_t n = 0;
  Scalars s;
};
struct ManySteps {
  int32_t count = 0;
  uint32_t first[kMostSteps + 1] = {};
  OneStep of[kMostSteps];
};

struct Steps {
  Step one;
  int count, stride;  // each has so many inputs
  void operator()(KernelContext& c) const {
    std::vector<int> handles;
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < one.variables; ++i) handles.push_back(k * stride + i);
    std::vector<Tensor*> tensors;
    with_variables(c, handles, tensors, [&] { launch_all(c, tensors); });
    if (one.is_ref) c.set_output(0, c.input((count - 1) * stride));
  }
  void launch_all(KernelContext& c, std::span<Tensor* const> tensors) const {
    ManySteps all;
    uint32_t blocks = 0;
    for (int k = 0; k < count; ++k) {
      const Tensor& g = c.input(k * stride + one.grad);
      const auto mine = tensors.subspan(static_cast<size_t>(k * one.variables),
                                        static_cast<size_t>(one.variables));
      check_shapes(mine, &g);
      if (g.num_elements() == 0) continue;
      OneStep& step = all.of[all.count];
      for (size_t i = 0; i < mine.size(); ++i) step.v[i] = mine[i]->raw();
      step.grad = g.raw();
      step.n = g.num_elements();
      step.s.flag = one.flag;
      for (size_t i = 0; i < one.scalars.size(); ++i)
        step.s.p[i] = c.input(k * stride + one.scalars[i]).raw();
      all.first[all.count++] = blocks;
      blocks += static_cast<uint32_t>((step.n + kStepBlock - 1) / kStepBlock);
    }
    Grid g;
    g.x = blocks;
    if (blocks > 0) launch_kernel(*one.gpu, one.f, g, all);
  }
};

Prepared make_steps(const KernelInit& init) {
  const Rule& rule = rule_of(init.op->name);
  const auto count = static_cast<int>(init.attr<int64_t>("count"));
  const auto stride = static_cast<int>(init.input_types.size()) / count;
  if (count > kMostSteps) throw unimplemented("more steps than a launch takes");
  Steps steps{inputs_of(init, static_cast<size_t>(stride)), count, stride};
  steps.one.f = steps.one.gpu->jit().get(
      "training", fmt::format("dense_steps<{}, {}, {}>", rule.name, device_type(init.type("T")),
                              rule.variables));
  return prepared(std::move(steps));
}

}  // namespace

std::vector<KernelRow> training_kernels() {
  std::vector<KernelRow> rows = {cuda_row("_FusedApply", make_steps)};
  std::vector<DType> numbers = kFloats;
  numbers.insert(numbers.end(), kComplexes.begin(), kComplexes.end());
  for (const Rule& rule : kRules)
    for (const char* prefix : {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"}) {
      const bool dense = std::string_view(prefix).find("Sparse") == std::string_view::npos;
      rows.push_back(cuda_row(std::string(prefix) + rule.name, make_step,
                              {{"T", dense && rule.complex ? numbers : kFloats}}));
    }
  return rows;
}

}  // namespace emplace::cuda
