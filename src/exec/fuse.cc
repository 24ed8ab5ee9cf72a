#include "exec/fuse.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "exec/fused_kernel.h"
#include "exec/joiner.h"

namespace emplace {
namespace {

constexpr int64_t kLeastBytes = 256 << 10;  // smaller tensors stay in the cache by themselves

// Each element of the result depends on the same element of the inputs; no value is refused.
constexpr auto kElementwise =
    std::to_array<std::string_view>({"Abs",           "Add",          "AddN",
                                     "AddV2",         "Cast",         "Ceil",
                                     "ClipByValue",   "Cos",          "Elu",
                                     "EluGrad",       "Equal",        "Erf",
                                     "Exp",           "Expm1",        "Floor",
                                     "Greater",       "GreaterEqual", "LeakyRelu",
                                     "LeakyReluGrad", "Less",         "LessEqual",
                                     "Log",           "Log1p",        "LogicalAnd",
                                     "LogicalNot",    "LogicalOr",    "Maximum",
                                     "Minimum",       "Mul",          "Neg",
                                     "NotEqual",      "RealDiv",      "Reciprocal",
                                     "Relu",          "Relu6",        "Relu6Grad",
                                     "ReluGrad",      "Rsqrt",        "RsqrtGrad",
                                     "Selu",          "SelectV2",     "Sigmoid",
                                     "SigmoidGrad",   "Sign",         "Sin",
                                     "Softplus",      "Softsign",     "Sqrt",
                                     "SqrtGrad",      "Square",       "SquaredDifference",
                                     "Sub",           "Tanh",         "TanhGrad"});

class Fuser {
 public:
  explicit Fuser(StepGraph& g) : g_(g), joiner_(g) {}

  void run() {
    for (int t = static_cast<int>(g_.steps.size()) - 1; t >= 0; --t)
      if (fits(t))
        join(joiner_.group_of(t, FusedKernel::kMostCalls, [&](int i) { return goes_with(i, t); }));
    joiner_.finish();
  }

 private:
  // Can it be one of a group?
  bool fits(int i) const {
    const Step& s = g_.steps[i];
    if (s.kind != StepKind::kKernel || !s.row || s.outputs.size() != 1 || s.inputs.empty())
      return false;
    const StepOutput& out = s.outputs[0];
    if (s.device_space != kHostSpace || (s.device && s.device->is_async()) || !is_large(out))
      return false;
    bool any = false;
    for (Port p : s.inputs) {
      const StepOutput& in = g_.out(p);
      if (in.is_ref || in.space != kHostSpace || !is_plain(in.dtype)) return false;
      const bool same = in.shape == out.shape;
      if (!same && !(in.shape.is_fully_known() && in.shape.num_elements() == 1)) return false;
      any = any || same;
    }
    return any && is_elementwise(s.node->type());
  }
  static bool is_large(const StepOutput& o) {
    return !o.is_ref && is_plain(o.dtype) && o.shape.is_fully_known() && !o.has_value() &&
           o.shape.num_elements() * static_cast<int64_t>(dtype_size(o.dtype)) >= kLeastBytes;
  }
  bool goes_with(int i, int last) const {
    return fits(i) && g_.steps[i].device == g_.steps[last].device &&
           g_.steps[i].outputs[0].shape == g_.steps[last].outputs[0].shape;
  }

  void join(const std::vector<int>& group) {
    if (group.size() < 2) return;
    Step& last = g_.steps[group.back()];
    FusedKernel::Builder builder(last.outputs[0].shape);
    std::vector<Port> taken;  // from outside
    for (int i : group) {
      const Step& s = g_.steps[i];
      std::vector<FusedKernel::Operand> operands;
      for (Port p : s.inputs) operands.push_back(operand(p, group, taken));
      builder.add(s, operands, g_);
    }
    if (taken.size() > FusedKernel::kMostInputs) return;
    for (Port p : taken) builder.take(g_.out(p));
    last.kernel = std::move(builder).prepared();
    joiner_.join(group, std::move(taken));
  }

  static FusedKernel::Operand operand(Port p, const std::vector<int>& group,
                                      std::vector<Port>& taken) {
    const auto member = std::find(group.begin(), group.end(), p.step);
    if (member != group.end()) return {true, static_cast<int>(member - group.begin())};
    const auto at = std::find(taken.begin(), taken.end(), p);
    const auto index = static_cast<int>(at - taken.begin());
    if (at == taken.end()) taken.push_back(p);
    return {false, index};
  }

  StepGraph& g_;
  Joiner joiner_;
};

}  // namespace

bool is_elementwise(const std::string& op) {
  return std::find(kElementwise.begin(), kElementwise.end(), op) != kElementwise.end();
}

void fuse_elementwise(StepGraph& g) {
  if (!Joiner::branches(g)) Fuser(g).run();
}

}  // namespace emplace
