#include "exec/card_norms.h"

#include <algorithm>
#include <string_view>

#include "exec/card_chains.h"

namespace emplace {
namespace {

constexpr size_t kInputs = 5;  // of a normalisation: x, scale, shift, mean, variance

bool trains(const Step& s, std::string_view type) {
  if (!on_card(s) || s.joined || !s.node->type().starts_with(type)) return false;
  const bool grad = s.node->type().find("Grad") != std::string::npos;
  const AttrValue* training = s.node->attr("is_training");
  return grad == type.ends_with("Grad") && training && training->as<bool>() &&
         s.outputs.size() >= 3 && s.outputs[0].shape.is_fully_known() &&
         s.outputs[0].shape.num_elements() > 0;
}

class Norms {
 public:
  Norms(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (trains(g_.steps[i], "FusedBatchNorm") && g_.steps[i].inputs.size() == kInputs) join(i);
    joiner_.finish();
  }

 private:
  // The only one who needs i's first result.
  int next(int i) const {
    const auto users = joiner_.users().of(Port{i, 0});
    const bool one = users.size() == 1 && g_.steps[users[0]].device == g_.steps[i].device &&
                     joiner_.only_for(i, users[0], {users[0]});
    return one ? users[0] : -1;
  }
  bool is(int i, std::initializer_list<std::string_view> types) const {
    return i >= 0 && on_card(g_.steps[i]) && g_.steps[i].outputs.size() == 1 &&
           std::ranges::find(types, g_.steps[i].node->type()) != types.end();
  }
  // What step i adds to the normalised, element by element.
  Port side_of(int i, int norm) const {
    const Step& s = g_.steps[i];
    if (!is(i, {"AddV2", "Add", "AddN"}) || s.inputs.size() != 2) return {};
    const Port other = s.inputs[s.inputs[0] == Port{norm, 0}];
    const StepOutput &side = g_.out(other), &sum = g_.steps[norm].outputs[0];
    const bool fits = side.shape == sum.shape && side.space == sum.space && !side.is_ref;
    return fits ? other : Port{};
  }
  // Its other results are made where the relu stands.
  bool others_can_wait(int norm, int relu) const {
    for (int o = 1; o < static_cast<int>(g_.steps[norm].outputs.size()); ++o) {
      const Port p{norm, o};
      if (joiner_.users().fetched(joiner_.users().slot(p))) return false;
      for (const int user : joiner_.users().of(p))
        if (user <= relu) return false;
    }
    return true;
  }

  void join(int norm) {
    std::vector<int> group = {norm, next(norm)};
    std::vector<Port> inputs(g_.steps[norm].inputs.begin(), g_.steps[norm].inputs.end());
    if (group[1] < 0) return;
    if (const Port side = side_of(group[1], norm); side.step >= 0) {
      inputs.push_back(side);
      group.push_back(next(group[1]));
    }
    const int relu = group.back();
    if (!is(relu, {"Relu"}) || !others_can_wait(norm, relu)) return;
    Step& last = g_.steps[relu];
    const auto own = last.outputs;
    for (size_t o = 1; o < g_.steps[norm].outputs.size(); ++o)
      last.outputs.push_back(g_.steps[norm].outputs[o]);
    if (!prepare_joined(g_, row_, group, inputs, g_.steps[norm].node->attrs())) {
      last.outputs = own;
      return;
    }
    for (int o = 1; o < static_cast<int>(last.outputs.size()); ++o)
      for (const int user : joiner_.users().of(Port{norm, o}))
        for (Port& p : g_.steps[user].inputs)
          if (p == Port{norm, o}) p.step = relu;
    joiner_.join(group, std::move(inputs));
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

class NormGrads {
 public:
  NormGrads(StepGraph& g, const KernelRow* forward, const KernelRow* row)
      : g_(g), forward_(forward), row_(row), joiner_(g) {}

  void run() {
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (trains(g_.steps[i], "FusedBatchNormGrad")) join(i);
    joiner_.finish();
  }

 private:
  void join(int grad) {
    const Step& s = g_.steps[grad];
    const int relu = s.inputs[0].step;
    const Step& r = g_.steps[relu];
    if (!on_card(r) || r.joined || r.node->type() != "ReluGrad" || r.device != s.device ||
        !joiner_.only_for(relu, grad, {grad}))
      return;
    const int norm = r.inputs[1].step;
    const Step& n = g_.steps[norm];
    const bool its_own = n.row == forward_ && n.inputs.size() == kInputs &&
                         r.inputs[1].output == 0 && s.inputs[1] == n.inputs[0] &&
                         s.inputs[3] == Port{norm, 3} && s.inputs[4] == Port{norm, 4};
    if (!its_own) return;
    std::vector<Port> inputs(s.inputs.begin(), s.inputs.end());
    inputs[0] = r.inputs[0];
    inputs.insert(inputs.end(), {n.inputs[1], n.inputs[2]});
    const std::vector<int> group = {relu, grad};
    if (prepare_joined(g_, row_, group, inputs, s.node->attrs()))
      joiner_.join(group, std::move(inputs));
  }

  StepGraph& g_;
  const KernelRow *const forward_, *const row_;
  Joiner joiner_;
};

}  // namespace

void join_norms(StepGraph& g, const KernelRow* forward, const KernelRow* back) {
  if (!forward || !back) return;
  Norms(g, forward).run();
  NormGrads(g, forward, back).run();
}

}  // namespace emplace
