// Steps of optimizers: device/training.cuh.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

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
};
constexpr Rule kRules[] = {
    {"GradientDescent", 1, nullptr},  {"Momentum", 2, "use_nesterov"},
    {"KerasMomentum", 2, "use_nesterov"}, {"Adam", 3, "use_nesterov"},
    {"Adagrad", 2, "update_slots"},   {"AdagradV2", 2, "update_slots"},
    {"RMSProp", 3, nullptr},          {"Adadelta", 3, nullptr},
    {"CenteredRMSProp", 4, nullptr},  {"Ftrl", 3, "multiply_linear_by_lr"},
    {"FtrlV2", 3, "multiply_linear_by_lr"},
};

const Rule& rule_of(std::string name) {
  for (const char* prefix : {"Resource", "Sparse", "Apply"})
    if (name.rfind(prefix, 0) == 0) name = name.substr(std::string_view(prefix).size());
  if (name.rfind("Apply", 0) == 0) name = name.substr(5);
  for (const Rule& r : kRules)
    if (name == r.name) return r;
  throw internal_error("no rule for " + name);
}

// Holds the variables of a call, all private to it, while f(tensors) runs.
template <class F>
void with_variables(KernelContext& c, int count, std::vector<Tensor*>& held, F&& f) {
  const int i = static_cast<int>(held.size());
  if (i == count) return f(held);
  c.variable(i).update(c.own_aliases(), [&](Tensor& t) {
    held.push_back(&t);
    with_variables(c, count, held, f);
  });
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
    std::vector<Tensor*> held;
    with_variables(c, variables, held, [&](std::vector<Tensor*>& v) {
      void* at[4] = {};
      for (size_t i = 0; i < v.size(); ++i) {
        at[i] = v[i]->raw();
        if (!(v[i]->shape() == v[0]->shape()))
          throw invalid_argument(fmt::format("var and its slots do not have the same shape{} {}",
                                             v[0]->shape().str(), v[i]->shape().str()));
      }
      if (indices >= 0) return sparse(c, *v[0], at, g, s);
      if (!(g.shape() == v[0]->shape()))
        throw invalid_argument(fmt::format("var and grad do not have the same shape{} {}",
                                           v[0]->shape().str(), g.shape().str()));
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

Prepared make_step(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const OpDef& op = *init.op;
  const Rule& rule = rule_of(op.name);
  Step step{&gpu, nullptr, rule.variables, -1, op.input_index("indices"), {}, false,
            op.name.rfind("Resource", 0) != 0};
  for (int i = rule.variables; i < static_cast<int>(init.input_types.size()); ++i) {
    const std::string& arg = op.inputs[static_cast<size_t>(i)].name;
    if (arg == "grad" || arg == "delta") step.grad = i;
    else if (arg != "indices") step.scalars.push_back(i);
  }
  if (rule.flag)
    if (const AttrValue* v = find_attr(*init.attrs, rule.flag)) step.flag = v->as<bool>();
  const std::string_view t = device_type(init.type("T"));
  step.f = gpu.jit().get(
      "training",
      step.indices < 0
          ? fmt::format("dense_step<{}, {}, {}>", rule.name, t, rule.variables)
          : fmt::format("sparse_step<{}, {}, {}, {}>", rule.name, t,
                        device_type(init.input_types[static_cast<size_t>(step.indices)]),
                        rule.variables));
  return prepared(std::move(step));
}

}  // namespace

std::vector<KernelRow> training_kernels() {
  std::vector<KernelRow> rows;
  for (const Rule& rule : kRules)
    for (const char* prefix : {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"})
      rows.push_back(cuda_row(std::string(prefix) + rule.name, make_step, {{"T", kFloats}}));
  return rows;
}

}  // namespace emplace::cuda
