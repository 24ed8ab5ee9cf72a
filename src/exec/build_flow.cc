// TensorFlow 1's branches and loops. Switch and LoopCond are other names for what they take, the
// former behind a gate; a loop's nodes become a round, which one step runs again and again.
#include <fmt/format.h>

#include "exec/builder.h"
#include "exec/lives.h"

namespace emplace {

// One gate for each question and answer, however many values pass it.
int Builder::gate(const Value& predicate, int branch, int num_branches) {
  Value asked = read_if_ref(predicate);
  const Port p = is_plain(g_.out(asked.port).dtype) ? in_space(asked.port, kHostSpace) : asked.port;
  std::vector<int> key = {p.step, p.output, branch, num_branches};
  key.insert(key.end(), asked.guards.begin(), asked.guards.end());
  const auto [it, fresh] = gates_.try_emplace(std::move(key), -1);
  if (!fresh) return it->second;
  const Step& from = g_.steps[p.step];
  Step step;
  step.kind = StepKind::kGate;
  step.node = from.node;
  step.name = from.name;
  step.source = from.source;
  step.device = env_.host();
  step.inputs = {p};
  step.flow.set().branch = branch;
  step.flow.set().num_branches = num_branches;
  for (int guard : asked.guards) add_control(step, guard);
  return it->second = append(std::move(step));
}

void Builder::add_switch(Frame& frame, Node* n) {
  Value data = value_of(frame, n->inputs()[0]);
  const Value predicate = value_of(frame, n->inputs()[1]);
  for (Node* c : n->control_inputs()) wait_for(frame, c, data.guards);
  if (!n->output_is_ref(0)) data = read_if_ref(std::move(data));
  frame.ports_of(*n).clear();
  for (int i = 0; i < n->num_outputs(); ++i) frame.ports_of(*n).push_back(data.port);
  frame.done_of(*n) = -1;
  const int numbered = n->type() == "_SwitchN" ? n->num_outputs() : 0;  // 0: the question is yes or no
  for (int branch = 0; branch < n->num_outputs(); ++branch) {
    std::vector<int> guards = data.guards;
    guards.push_back(gate(predicate, branch, numbered));
    frame.guards[{n, branch}] = std::move(guards);
  }
}

void Builder::add_alias(Frame& frame, Node* n) {
  Value v = value_of(frame, n->inputs()[0]);
  for (Node* c : n->control_inputs()) wait_for(frame, c, v.guards);
  if (!n->output_is_ref(0)) v = read_if_ref(std::move(v));
  frame.ports_of(*n) = {v.port};
  frame.done_of(*n) = -1;
  if (!v.guards.empty()) frame.guards[n->output()] = std::move(v.guards);
}

void Builder::add_merge(Frame& frame, Node* n, Device* device) {
  if (frame.has(*n)) return;  // a loop's variable
  Step step = make_step(frame, n, device);
  step.kind = StepKind::kMerge;
  for (Node* c : n->control_inputs()) wait_for(frame, c, step.controls);
  for (const Output& in : n->inputs()) {
    Value v = value_of(frame, in);
    if (!n->output_is_ref(0)) v = read_if_ref(std::move(v));
    for (int s : step.flow.set().arms.emplace_back(life_of(v))) add_control(step, s);
    const bool plain = is_plain(g_.out(v.port).dtype) && !g_.out(v.port).is_ref;
    step.inputs.push_back(plain ? in_space(v.port, step.outputs[0].space) : v.port);
  }
  publish(frame, n, append(std::move(step)));
}

void Builder::add_units(Frame& frame, const LoopNest& nest, int loop) {
  for (const LoopNest::Unit& unit : nest.units(loop)) {
    if (!unit.node) add_loop(frame, nest, unit.loop);
    else if (!is_enter(*unit.node) && !is_exit(*unit.node)) add_node(frame, unit.node);
  }
}

// The value is brought into `space` outside, once.
Port Builder::capture(const Node* node, Value v, Space space) {
  Builder& from = *outer_;
  // Both count the same devices in the same order.
  for (Device* d : g_.devices) from.g_.space_of(d);
  for (Device* d : from.g_.devices) g_.space_of(d);
  Port p = v.port;
  const StepOutput& out = from.g_.out(p);
  const bool moves = is_plain(out.dtype) && !out.is_ref;
  if (moves) p = from.in_space(p, space);
  captured_.push_back(p);
  captured_guards_.insert(captured_guards_.end(), v.guards.begin(), v.guards.end());
  StepOutput inside = from.g_.out(p);
  inside.set_value({});
  return {append_feed(node, from.g_.steps[p.step].name, std::move(inside)), 0};
}

Value Builder::enter(Frame& frame, Node* enter) {
  Value v = outer_->value_of(*frame.outer, enter->inputs()[0]);
  if (!enter->output_is_ref(0)) v = outer_->read_if_ref(std::move(v));
  for (Node* c : enter->control_inputs())
    if (c->id() >= frame.outer->first_id) outer_->wait_for(*frame.outer, c, v.guards);
  const Step there = make_step(frame, enter, device_of(frame, enter));
  const Port p = capture(enter, std::move(v), there.outputs[0].space);
  if (!frame.has(*enter) && enter->id() >= frame.first_id && frame.index(*enter) < frame.ports.size())
    frame.ports_of(*enter) = {p};
  return {p, {}};
}

void Builder::note_parallel_iterations(const Node& n) {
  const AttrValue* v = n.attr("parallel_iterations");
  if (v && v->is<int64_t>()) plan_.parallel_iterations = v->as<int64_t>();
}

void Builder::add_variables(Frame& frame, const LoopNest::Loop& loop) {
  plan_.num_variables = loop.variables.size();
  for (Node* merge : loop.variables) {
    const auto inputs = merge->inputs();
    const int first = inputs.size() == 2 && is_next_iteration(*inputs[0].node) ? 1 : 0;
    Node* start = inputs[static_cast<size_t>(first)].node;
    if (inputs.size() != 2 || !is_enter(*start))
      throw unimplemented(fmt::format("'{}' does not merge an Enter and a NextIteration, as a loop's "
                                      "variable does",
                                      merge->name()))
          .at_node(merge->name(), merge->type());
    note_parallel_iterations(*start);
    const Port p = enter(frame, start).port;
    frame.ports_of(*merge) = {p, Port{}};
    frame.ports_of(*start).clear();  // if it is used otherwise too, that value does not vary
  }
}

void Builder::add_loop(Frame& frame, const LoopNest& nest, int number) {
  const LoopNest::Loop& loop = nest.loop(number);
  if (loop.variables.empty())
    throw unimplemented(fmt::format("the loop in frame '{}' has no variable", loop.name));
  Builder round(*this);
  round.g_.devices = g_.devices;
  Frame inside;
  inside.prefix = frame.prefix;
  inside.devices = frame.devices;
  inside.outer = &frame;
  std::vector<Node*> all = nest.nodes(number);
  inside.first_id = all.front()->id();
  for (const Node* n : all) inside.first_id = std::min(inside.first_id, n->id());
  round.make_room(inside, all);
  round.add_variables(inside, loop);
  round.add_units(inside, nest, number);
  for (Node* merge : loop.variables) {
    const Output next = merge->inputs()[is_next_iteration(*merge->inputs()[0].node) ? 0 : 1];
    Value v = round.value_of(inside, next);
    const StepOutput& variable = round.g_.out(inside.ports_of(*merge)[0]);
    if (!variable.is_ref) v = round.read_if_ref(std::move(v));
    for (int s : life_of(v)) round.plan_.goes_on.push_back(s);
    round.g_.fetch_lives.push_back(life_of(v));
    const bool plain = is_plain(variable.dtype) && !variable.is_ref;
    const Space space = variable.space;
    round.g_.fetches.push_back(plain ? round.in_space(v.port, space) : v.port);
  }
  for (Node* exit : loop.exits) {
    const Value v = round.value_of(inside, exit->inputs()[0]);
    round.g_.fetches.push_back(v.port);
    round.g_.fetch_lives.push_back(life_of(v));
  }
  std::vector<int> controls = frame.entry_controls;
  const int step = round.finish_loop(frame, loop.variables[0], std::move(controls));
  for (size_t k = 0; k < loop.exits.size(); ++k) {
    Node* exit = loop.exits[k];
    frame.ports_of(*exit) = {{step, static_cast<int>(k)}};
    frame.done_of(*exit) = step;
  }
}

// Closes the round and puts the step that runs it into what surrounds it.
int Builder::finish_loop(Frame& frame, const Node* node, std::vector<int> controls) {
  Builder& outer = *outer_;
  find_gates(g_);
  if (gates_of(g_, plan_.goes_on).empty())
    throw invalid_argument(fmt::format("the loop of '{}' never ends", node->name()))
        .at_node(node->name(), node->type());
  for (Device* d : g_.devices) outer.g_.space_of(d);
  Step step = outer.plain_step(frame, node, env_.host());
  step.kind = StepKind::kLoop;
  step.inputs = captured_;
  step.controls = std::move(controls);
  for (int guard : captured_guards_) outer.add_control(step, guard);
  for (size_t i = plan_.num_variables; i < g_.fetches.size(); ++i) {
    StepOutput out = g_.out(g_.fetches[i]);
    out.set_value({});
    step.outputs.push_back(std::move(out));
  }
  plan_.round = std::move(g_);
  step.flow.set().loop = std::make_shared<LoopPlan>(std::move(plan_));
  return outer.append(std::move(step));
}

}  // namespace emplace
