// Loops over several tasks: each runs its part of every round, as long as the owner of the predicate
// says. So each has a variable of its own in the loop's frame, and all but the owner receive the word
// in every round. What is the same in all rounds enters where it is used.
#include <fmt/format.h>

#include <algorithm>

#include "exec/cutter.h"
#include "graph/attr_proto.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"

namespace emplace {

const NodePlace& Cutter::home(const Node& n) const {
  const auto it = homes_.find(&n);
  return it != homes_.end() ? it->second : homes_.emplace(&n, place_(n)).first->second;
}

// What only names a loop's variable is where its Merge is, whatever device it was given.
void Cutter::find_homes() {
  tasks_.resize(nest_.count());
  conditions_.resize(nest_.count());
  loop_levels_.resize(nest_.count());
  for (const Node* n : order_) homes_[n] = place_(*n);
  for (size_t f = 1; f < nest_.count(); ++f)
    for (const Node* merge : nest_.loop(static_cast<int>(f)).variables)
      for (const Output& in : merge->inputs()) {
        homes_[in.node] = homes_.at(merge);
        if (is_enter(*in.node)) variable_enters_.emplace(in.node, merge);
      }
  for (Node* n : order_) {
    if (is_exit(*n)) homes_[n] = homes_.at(n->inputs()[0].node);
    if (n->type() == "LoopCond") conditions_[static_cast<size_t>(frame(*n))] = n;
    if (!is_enter(*n) || variable_enters_.contains(n))
      tasks_[static_cast<size_t>(frame(*n))].insert(home(*n).task);
  }
  for (size_t f = nest_.count(); f-- > 1;) {
    const auto parent = static_cast<size_t>(nest_.loop(static_cast<int>(f)).parent);
    tasks_[parent].insert(tasks_[f].begin(), tasks_[f].end());
  }
}

// The nodes that a node of `task` in this frame waits for so as to live when these hold.
std::vector<std::string> Cutter::waits_in(int task, int frame, const Conditions& conditions) {
  std::vector<std::string> waits;
  for (const Condition& c : conditions)
    if (this->frame(*c.predicate.node) == frame) waits.push_back(pivot_in(task, c));
  if (waits.empty() && frame > 0) waits.push_back(round(frame, task).merge);
  return waits;
}

Cutter::Round& Cutter::round(int frame, int task) {
  const auto [it, fresh] = rounds_.try_emplace({frame, task});
  if (fresh) begin_round(it->second, frame, task);
  return it->second;
}

void Cutter::begin_round(Round& r, int frame, int task) {
  const LoopNest::Loop& loop = nest_.loop(frame);
  Node* const owner = conditions_[static_cast<size_t>(frame)];
  if (!owner || loop.variables.empty())
    throw invalid_argument(fmt::format("The loop in frame '{}' never ends", loop.name));
  Conditions before = branches_.of(*owner);
  for (const Node* variable : loop.variables)
    for (const Condition& c : branches_.of(*variable))
      if (std::ranges::find(before, c) == before.end()) before.push_back(c);
  const std::vector<std::string> waits = waits_in(task, loop.parent, before);
  const auto node = [&](std::string_view op) -> proto::NodeDef& {
    proto::NodeDef& def = new_node(task, op, owner->name());
    if (op != "Const" && op != "ControlTrigger" && op != "LoopCond")
      (*def.mutable_attr())["T"].set_type(to_proto(DType::kFloat));
    return def;
  };
  r.start = &node("Const");
  (*r.start->mutable_attr())["dtype"].set_type(to_proto(DType::kFloat));
  to_proto(Tensor(DType::kFloat, Shape{0}), (*r.start->mutable_attr())["value"].mutable_tensor());
  for (const std::string& wait : waits) r.start->add_input("^" + wait);
  proto::NodeDef& enter = node("Enter");
  proto::NodeDef& merge = node("Merge");
  proto::NodeDef& chooser = node("Switch");
  proto::NodeDef& body = node("Identity");
  proto::NodeDef& next = node("NextIteration");
  proto::NodeDef& exit = node("Exit");
  r.sent = &node("ControlTrigger");  // lives whatever dies
  enter.add_input(r.start->name());
  (*enter.mutable_attr())["frame_name"].set_s(loop.name);
  merge.add_input(enter.name());
  merge.add_input(next.name());
  (*merge.mutable_attr())["N"].set_i(2);
  r.merge = merge.name();
  r.body = body.name();
  r.exit = exit.name();
  const int from = home(*owner).task;
  if (from == task) {
    r.condition = owner->name();
  } else {
    const std::string word = crossing(from, task, owner->name(), owner->name() + ":0", *owner, 0,
                                      DType::kBool, branches_.of(*owner), nullptr);
    proto::NodeDef& condition = node("LoopCond");
    condition.add_input(word);
    r.condition = condition.name();
    channels_[r.condition] = channels_.at(word);
    known_[{task, owner, 0}] = r.condition;
  }
  chooser.add_input(merge.name());
  chooser.add_input(r.condition);
  body.add_input(chooser.name() + ":1");
  exit.add_input(chooser.name());
  r.sent->add_input("^" + body.name());
  next.add_input(body.name());
  next.add_input("^" + r.sent->name());
  if (loop.parent > 0) round(loop.parent, task).sent->add_input("^" + r.exit);
  else part(task).targets.push_back(r.exit);
}

// The name by which `task` knows what enters a loop: the variable's own where that is, else a value
// that is the same in every round.
std::string Cutter::entered(int task, Node& enter) {
  const bool varies = variable_enters_.contains(&enter);
  if (varies && home(enter).task == task) return enter.name();
  if (const auto known = known_.find({task, &enter, 0}); known != known_.end()) return known->second;
  proto::NodeDef def;
  to_proto(enter, &def);
  def.clear_input();
  def.mutable_attr()->erase("_class");
  (*def.mutable_attr())["is_constant"].set_b(true);
  def.add_input(tensor_in(task, enter.inputs()[0], &enter));
  for (Node* c : enter.control_inputs())
    if (!is_fed_placeholder(*c, fed_)) def.add_input("^" + control_in(task, *c, enter));
  if (!varies && place_(enter).task == task) {
    def.set_device(*place_(enter).device);
    *part(task).graph.add_node() = def;
  } else {
    proto::NodeDef& copy = new_node(task, enter.type(), enter.name());
    def.set_name(copy.name());
    def.set_device(copy.device());
    copy = def;
  }
  return known_[{task, &enter, 0}] = def.name();
}

// Nodes of a graph that no function of TensorFlow's makes.
void Cutter::check_loop(const Node& from, const Node& to, int task) const {
  const int in = frame(from);
  if (in == 0 || (conditions_[static_cast<size_t>(in)] && !nest_.loop(in).variables.empty())) return;
  throw unimplemented(fmt::format("A loop over several tasks without a condition: from {}.",
                                  ends(from, &to, task)))
      .at_node(to.name(), to.type())
      .from_source(to.source());
}

}  // namespace emplace
