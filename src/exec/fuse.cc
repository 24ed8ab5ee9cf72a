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
  Fuser(StepGraph& g, const KernelRow* simple) : g_(g), joiner_(g), simple_(simple) {}

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
           bytes_of(o.shape, o.dtype) >= kLeastBytes;
  }
  bool goes_with(int i, int last) const {
    return fits(i) && g_.steps[i].device == g_.steps[last].device &&
           g_.steps[i].outputs[0].shape == g_.steps[last].outputs[0].shape;
  }

  void join(const std::vector<int>& group) {
    if (group.size() < 2) return;
    Step& last = g_.steps[group.back()];
    std::vector<Port> taken;  // from outside
    std::vector<std::vector<FusedKernel::Operand>> operands;
    for (int i : group) {
      operands.emplace_back();
      for (Port p : g_.steps[i].inputs) operands.back().push_back(operand(p, group, taken));
    }
    if (taken.size() > FusedKernel::kMostInputs) return;
    if (!make_simple(group, operands, taken)) {
      FusedKernel::Builder builder(last.outputs[0].shape);
      for (size_t i = 0; i < group.size(); ++i) builder.add(g_.steps[group[i]], operands[i], g_);
      for (Port p : taken) builder.take(g_.out(p));
      last.kernel = std::move(builder).prepared();
    }
    joiner_.join(group, std::move(taken));
  }

  // Operands: inputs from outside count from 0, results of the group from -1 down.
  bool make_simple(const std::vector<int>& group,
                   const std::vector<std::vector<FusedKernel::Operand>>& operands,
                   const std::vector<Port>& taken) {
    if (!simple_) return false;
    std::vector<std::string> ops;
    std::vector<DType> results;
    std::vector<int64_t> flat, counts;
    for (size_t i = 0; i < group.size(); ++i) {
      const Step& s = g_.steps[group[i]];
      ops.push_back(s.node->type());
      results.push_back(s.outputs[0].dtype);
      counts.push_back(static_cast<int64_t>(operands[i].size()));
      for (const auto& o : operands[i]) flat.push_back(o.is_result ? -1 - o.index : o.index);
    }
    AttrList attrs;
    set_attr(attrs, "ops", std::move(ops));
    set_attr(attrs, "results", std::move(results));
    set_attr(attrs, "operands", std::move(flat));
    set_attr(attrs, "counts", std::move(counts));
    Step& last = g_.steps[group.back()];
    try {
      last.kernel = make_joined(g_, *simple_, last, taken, attrs);
    } catch (const Error&) {
      return false;
    }
    return true;
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
  const KernelRow* simple_;
};

}  // namespace

bool is_elementwise(const std::string& op) {
  return std::find(kElementwise.begin(), kElementwise.end(), op) != kElementwise.end();
}

void fuse_elementwise(StepGraph& g, const KernelRow* simple) {
  if (!Joiner::branches(g)) Fuser(g, simple).run();
}

}  // namespace emplace
