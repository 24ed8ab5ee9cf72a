#include "exec/fuse.h"

#include <algorithm>
#include <array>
#include <queue>
#include <string_view>

#include "exec/fused_kernel.h"
#include "exec/users.h"

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

bool is_elementwise(const std::string& op) {
  return std::find(kElementwise.begin(), kElementwise.end(), op) != kElementwise.end();
}

class Fuser {
 public:
  explicit Fuser(StepGraph& g) : g_(g), users_(g) {
    first_waiter_.assign(g.steps.size(), static_cast<int>(g.steps.size()));
    for (size_t i = 0; i < g.steps.size(); ++i)
      for (int c : g.steps[i].controls)
        first_waiter_[c] = std::min(first_waiter_[c], static_cast<int>(i));
  }

  void run() {
    for (const Step& s : g_.steps)  // where steps may be passed over, each keeps its own life
      if (s.kind == StepKind::kGate || s.kind == StepKind::kMerge || !s.gates.empty() || s.own_life)
        return;
    for (int t = static_cast<int>(g_.steps.size()) - 1; t >= 0; --t)
      if (fits(t)) join(t, group_of(t));
    if (!moved_.empty()) move_controls();
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

  // Producers that nobody but the group needs, nearest first: when one is looked at, all who take
  // from it have been.
  std::vector<int> group_of(int last) const {
    std::vector<int> group = {last};
    std::priority_queue<int> found;
    auto look = [&](int i) {
      for (Port p : g_.steps[i].inputs) found.push(p.step);
    };
    look(last);
    int before = -1;
    while (!found.empty() && group.size() < FusedKernel::kMostCalls) {
      const int i = found.top();
      found.pop();
      if (i == std::exchange(before, i) || !joins(i, last, group)) continue;
      group.push_back(i);
      look(i);
    }
    std::reverse(group.begin(), group.end());
    return group;
  }

  bool joins(int i, int last, const std::vector<int>& group) const {
    const Step& s = g_.steps[i];
    if (!fits(i) || s.device != g_.steps[last].device || first_waiter_[i] <= last) return false;
    if (!(s.outputs[0].shape == g_.steps[last].outputs[0].shape)) return false;
    if (users_.fetched(users_.slot({i, 0}))) return false;
    for (int user : users_.of(Port{i, 0}))
      if (std::find(group.begin(), group.end(), user) == group.end()) return false;
    return true;
  }

  void join(int last, const std::vector<int>& group) {
    if (group.size() < 2) return;
    FusedKernel::Builder builder(g_.steps[last].outputs[0].shape);
    std::vector<Port> taken;  // from outside
    std::vector<int> controls;
    for (int i : group) {
      const Step& s = g_.steps[i];
      std::vector<FusedKernel::Operand> operands;
      for (Port p : s.inputs) operands.push_back(operand(p, group, taken));
      builder.add(s, operands, g_);
      controls.insert(controls.end(), s.controls.begin(), s.controls.end());
    }
    if (taken.size() > FusedKernel::kMostInputs) return;
    for (Port p : taken) builder.take(g_.out(p));
    Step& s = g_.steps[last];
    s.kernel = std::move(builder).prepared();
    s.inputs = std::move(taken);
    s.controls = std::move(controls);
    for (int i : group)
      if (i != last) silence(i, last);
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

  // Its work is done with `last`; whoever waited for it waits for that.
  void silence(int i, int last) {
    Step& s = g_.steps[i];
    s.row = nullptr;
    s.kernel = {};
    s.inputs.clear();
    s.controls.clear();
    s.outputs.clear();
    moved_.push_back({i, last});
    first_waiter_[last] = std::min(first_waiter_[last], first_waiter_[i]);
  }

  void move_controls() {
    std::vector<int> now(g_.steps.size());
    for (size_t i = 0; i < now.size(); ++i) now[i] = static_cast<int>(i);
    for (auto [from, to] : moved_) now[from] = to;
    for (Step& s : g_.steps) {
      for (int& c : s.controls) c = now[c];
      std::sort(s.controls.begin(), s.controls.end());
      s.controls.erase(std::unique(s.controls.begin(), s.controls.end()), s.controls.end());
    }
  }

  StepGraph& g_;
  const Users users_;              // as it was: joined steps are not looked at again
  std::vector<int> first_waiter_;  // by step: the first that only waits for it
  std::vector<std::pair<int, int>> moved_;
};

}  // namespace

void fuse_elementwise(StepGraph& g) { Fuser(g).run(); }

}  // namespace emplace
