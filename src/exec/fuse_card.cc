#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "exec/card_chains.h"
#include "exec/card_norms.h"
#include "exec/fuse.h"
#include "exec/variables.h"

namespace emplace {
namespace {

constexpr size_t kMostSteps = 32;  // of optimizers in a launch

bool switched_off() {
  const char* text = std::getenv("EMPLACE_FUSION");
  return text && std::string_view(text) == "0";
}

// A product of matrices takes the bias, and relu, that follow it.
class Epilogues {
 public:
  Epilogues(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (is(i, "MatMul") && g_.steps[i].inputs.size() == 2) join(i);
    joiner_.finish();
  }

 private:
  bool is(int i, std::string_view type) const {
    const Step& s = g_.steps[i];
    return on_card(s) && s.node->type() == type && s.outputs.size() == 1 &&
           s.outputs[0].shape.is_fully_known() && s.outputs[0].shape.num_elements() > 0;
  }
  // The one step that takes i's result, on the same device.
  int next(int i) const {
    const auto users = joiner_.users().of(Port{i, 0});
    if (users.size() != 1 || g_.steps[users[0]].device != g_.steps[i].device) return -1;
    return joiner_.only_for(i, users[0], {users[0]}) ? users[0] : -1;
  }
  // The bias that step i adds to the rows of a product, if that is what it does.
  Port bias_of(int i, int product) const {
    if (i < 0) return {};
    const Step& s = g_.steps[i];
    if (is(i, "BiasAdd")) return s.inputs[0] == Port{product, 0} ? s.inputs[1] : Port{};
    if (!is(i, "AddV2") && !is(i, "Add")) return {};
    const Port other = s.inputs[s.inputs[0] == Port{product, 0}];
    const StepOutput &bias = g_.out(other), &sum = s.outputs[0];
    const bool fits = bias.shape.is_fully_known() && bias.shape.rank() == 1 &&
                      sum.shape.rank() == 2 && bias.shape[0] == sum.shape[1] &&
                      bias.space == s.device_space && !bias.is_ref &&
                      sum.shape == g_.steps[product].outputs[0].shape;
    return fits ? other : Port{};
  }

  void join(int product) {
    const int sum = next(product);
    const Port bias = bias_of(sum, product);
    if (bias.step < 0) return;
    int relu = next(sum);
    if (relu >= 0 && !is(relu, "Relu")) relu = -1;
    const Step& p = g_.steps[product];
    std::vector<Port> inputs = {p.inputs[0], p.inputs[1], bias};
    if (relu >= 0 && attempt({product, sum, relu}, inputs, {"BiasAdd", "Relu"})) return;
    attempt({product, sum}, inputs, {"BiasAdd"});
  }

  bool attempt(const std::vector<int>& group, const std::vector<Port>& inputs,
               std::vector<std::string> ops) {
    const Step& product = g_.steps[group[0]];
    AttrList attrs = product.node->attrs();
    set_attr(attrs, "fused_ops", std::move(ops));
    if (!prepare_joined(g_, row_, group, inputs, attrs)) return false;
    joiner_.join(group, inputs);
    return true;
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

// Steps of optimizers by the same rule, on variables of their own, become one.
class Updates {
 public:
  Updates(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    std::map<std::string, std::vector<int>> groups;
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (fits(i)) groups[alike(g_.steps[i])].push_back(i);
    for (const auto& [key, group] : groups) cut(group);
    joiner_.finish();
  }

 private:
  bool fits(int i) const {
    const Step& s = g_.steps[i];
    const std::string& type = s.node->type();
    if (!on_card(s) || (!type.starts_with("ResourceApply") && !type.starts_with("Apply")))
      return false;
    for (size_t o = 0; o < s.outputs.size(); ++o)  // the variable again, which nobody may want
      if (const Port p{i, static_cast<int>(o)};
          !joiner_.users().of(p).empty() || joiner_.users().fetched(joiner_.users().slot(p)))
        return false;
    for (Port p : s.inputs)
      if (is_handle(g_.out(p)) && variable(p).empty()) return false;
    return true;
  }
  static bool makes_variable(std::string_view type) {
    return type == "VarHandleOp" || type == "VariableV2" || type == "Variable";
  }
  // A name for the variable behind a handle; none: it might be any.
  std::string variable(Port p) const {
    const Step& s = g_.steps[p.step];
    if (s.kind == StepKind::kFeed) return "feed " + std::to_string(p.step);
    if (s.kind != StepKind::kKernel || !makes_variable(s.node->type())) return "";
    const AttrValue* shared = s.node->attr("shared_name");
    const AttrValue* container = s.node->attr("container");
    const bool named = shared && !shared->as<std::string>().empty();
    return "variable " + (container ? container->as<std::string>() : "") + "/" +
           (named ? shared->as<std::string>() : *s.name);
  }
  // Steps of one kind may be one: op, attributes, dtypes, device, and where their handles come from.
  std::string alike(const Step& s) const {
    std::string key = s.node->type() + "|" + s.device->name();
    for (const auto& [name, value] : s.node->attrs())
      if (name[0] != '_') key += "|" + name + "=" + value.str();
    return key + "|" + variable(s.inputs[0]).substr(0, 4);
  }

  // As many as fit a launch, none waited for before the last of them, no variable twice.
  void cut(const std::vector<int>& all) {
    std::vector<int> group;
    std::vector<std::string> held;
    auto close = [&] {
      if (group.size() > 1) join(group);
      group.clear();
      held.clear();
    };
    for (int i : all) {
      std::vector<std::string> mine;
      for (Port p : g_.steps[i].inputs)
        if (is_handle(g_.out(p))) mine.push_back(variable(p));
      bool meets = group.size() == kMostSteps;
      for (int member : group) meets |= joiner_.waited_for_before(member, i);
      for (const std::string& v : mine)
        meets |= std::find(held.begin(), held.end(), v) != held.end();
      if (meets) close();
      group.push_back(i);
      held.insert(held.end(), mine.begin(), mine.end());
    }
    close();
  }

  void join(const std::vector<int>& group) {
    std::vector<Port> inputs;
    for (int i : group) {
      const Step& s = g_.steps[i];
      inputs.insert(inputs.end(), s.inputs.begin(), s.inputs.end());
    }
    AttrList attrs = g_.steps[group.back()].node->attrs();
    set_attr(attrs, "count", static_cast<int64_t>(group.size()));
    if (prepare_joined(g_, row_, group, inputs, attrs)) joiner_.join(group, std::move(inputs));
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

template <class Pass>
void run_pass(StepGraph& g, PlanEnvironment& env, const char* op) {
  Pass(g, env.kernels().find(op, "GPU", {})).run();
}

}  // namespace

void fuse_for_cards(StepGraph& g, PlanEnvironment& env) {
  if (std::none_of(g.steps.begin(), g.steps.end(), on_card)) return;
  if (switched_off() || Joiner::branches(g)) return;
  run_pass<Epilogues>(g, env, "_FusedMatMul");
  join_norms(g, env.kernels().find("_FusedNorm", "GPU", {}),
             env.kernels().find("_FusedNormGrad", "GPU", {}));
  join_chains(g, env.kernels().find("_FusedElementwise", "GPU", {}));
  run_pass<Updates>(g, env, "_FusedApply");
}

}  // namespace emplace
