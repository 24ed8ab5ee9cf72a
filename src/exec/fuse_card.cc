#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "exec/card_chains.h"
#include "exec/fuse.h"

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
  // The one step that takes i's result as its first input.
  int next(int i, std::string_view type) const {
    const auto users = joiner_.users().of(Port{i, 0});
    if (users.size() != 1 || !is(users[0], type)) return -1;
    const Step& s = g_.steps[users[0]];
    const bool first = s.inputs[0] == Port{i, 0} && s.device == g_.steps[i].device;
    return first && joiner_.only_for(i, users[0], {users[0]}) ? users[0] : -1;
  }

  void join(int product) {
    const int bias = next(product, "BiasAdd");
    if (bias < 0) return;
    const int relu = next(bias, "Relu");
    const Step& p = g_.steps[product];
    std::vector<Port> inputs = {p.inputs[0], p.inputs[1],
                                g_.steps[bias].inputs[1]};
    if (relu >= 0 && attempt({product, bias, relu}, inputs, {"BiasAdd", "Relu"})) return;
    attempt({product, bias}, inputs, {"BiasAdd"});
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
    if (!on_card(s) || !s.outputs.empty() || s.node->type().rfind("ResourceApply", 0) != 0)
      return false;
    for (Port p : s.inputs)
      if (g_.out(p).dtype == DType::kResource && variable(p).empty()) return false;
    return true;
  }
  // A name for the variable behind a handle; none: it might be any.
  std::string variable(Port p) const {
    const Step& s = g_.steps[p.step];
    if (s.kind == StepKind::kFeed) return "feed " + std::to_string(p.step);
    if (s.kind != StepKind::kKernel || s.node->type() != "VarHandleOp") return "";
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
        if (g_.out(p).dtype == DType::kResource) mine.push_back(variable(p));
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
  join_chains(g, env.kernels().find("_FusedElementwise", "GPU", {}));
  run_pass<Updates>(g, env, "_FusedApply");
}

}  // namespace emplace
