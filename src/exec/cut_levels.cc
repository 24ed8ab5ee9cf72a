// The order of what is received. A device that makes its calls in a fixed order, or joins them, could
// wait for a value in front of what another task needs to send it. So values have levels, by how many
// messages they come after, and on tasks with such devices what has come at one level waits for what
// was to be sent at those below. Across tasks all waiting then goes from level to level. A loop over
// several tasks is sent and received at once, each at a level of its own; its rounds have levels, too.
#include <algorithm>

#include "exec/cutter.h"

namespace emplace {

void Cutter::order_receives() {
  std::set<int> in_fixed_order;
  for (const Node* n : order_)
    if (const NodePlace& at = home(*n); at.device->find("/device:CPU:") == std::string::npos)
      in_fixed_order.insert(at.task);
  if (ways_.empty() || in_fixed_order.empty()) return;
  for (int f = 0; f < static_cast<int>(nest_.count()); ++f) {
    if (f > 0 && !spans(f)) continue;
    find_levels(f);
    for (const int task : in_fixed_order)
      if (f == 0 || rounds_.contains({f, task})) order_task(task, f);
  }
}

void Cutter::find_levels(int frame) {
  int last_loop = -1;
  const auto set_level = [&](const std::vector<Node*>& nodes, int loop) {
    int level = 0;
    const auto look = [&](int task, const Node& n) {
      for (const Output& in : n.inputs())
        if (!fed_.contains(in) && this->frame(*in.node) == frame && !is_next_iteration(*in.node))
          level = std::max(level, level_of(task, *in.node, in.index));
      for (const Node* c : n.control_inputs())
        if (this->frame(*c) == frame) level = std::max(level, level_of(task, *c, -1));
    };
    for (const Node* n : nodes) {
      if (!is_enter(*n) || variable_enters_.contains(n)) look(home(*n).task, *n);
      else  // it is wherever it is used
        for (const int task : tasks_[static_cast<size_t>(this->frame(*n))]) look(task, *n);
    }
    if (loop == 0) {
      levels_[nodes[0]] = level;
      return;
    }
    if (spans(loop)) level = last_loop = std::max(level, last_loop + 1);
    loop_levels_[static_cast<size_t>(loop)] = level;
    for (const Node* exit : nest_.loop(loop).exits) levels_[exit] = level + (spans(loop) ? 1 : 0);
  };
  if (!nest_.any()) {
    for (Node* n : order_) set_level({n}, 0);
    return;
  }
  for (const LoopNest::Unit& unit : nest_.units(frame)) {
    if (unit.loop >= 0) set_level(nest_.nodes(unit.loop), unit.loop);
    else if (!is_exit(*unit.node)) set_level({unit.node}, 0);
  }
}

// Of a value where it is taken.
int Cutter::level_of(int task, const Node& from, int index) const {
  const auto it = known_.find({task, &from, index});
  const auto channel = it == known_.end() ? channels_.end() : channels_.find(it->second);
  if (channel == channels_.end()) {
    const auto own = levels_.find(&from);
    return own == levels_.end() ? 0 : own->second;
  }
  const Way& way = ways_[static_cast<size_t>(channel->second)];
  const auto own = levels_.find(way.node);
  int level = (own == levels_.end() ? 0 : own->second) + 1;
  for (const Condition& c : way.conditions)
    if (frame(*c.predicate.node) == frame(*way.node))
      level = std::max(level, level_of(task, *c.predicate.node, c.predicate.index));
  return level;
}

void Cutter::order_task(int task, int frame) {
  std::map<int, std::vector<std::string>> sends;  // by level
  std::map<int, std::vector<proto::NodeDef*>> receives;
  for (size_t i = 0; i < ways_.size(); ++i) {
    const Way& way = ways_[i];
    if (this->frame(*way.node) != frame) continue;
    if (crossings_[i].from == task) sends[levels_[way.node]].push_back(way.send->name());
    if (crossings_[i].to == task) receives[level_of(task, *way.node, way.index)].push_back(way.receive);
  }
  for (auto& [at, round] : rounds_) {
    if (at.second != task || nest_.loop(at.first).parent != frame) continue;
    const int level = loop_levels_[static_cast<size_t>(at.first)];
    sends[level].push_back(round.exit);
    receives[level].push_back(round.start);
  }
  std::string before;
  auto next = sends.begin();
  for (const auto& [level, all] : receives) {
    for (; next != sends.end() && next->first < level; ++next) {
      proto::NodeDef& trigger = new_node(task, "ControlTrigger", "sent");  // lives whatever dies
      for (const std::string& send : next->second) trigger.add_input("^" + send);
      if (!before.empty()) trigger.add_input("^" + before);
      before = trigger.name();
    }
    if (before.empty()) continue;
    for (proto::NodeDef* receive : all) receive->add_input("^" + before);
  }
}

}  // namespace emplace
