#include "exec/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "graph/look_ahead.h"

namespace emplace {

bool is_enter(const Node& n) { return n.type() == "Enter" || n.type() == "RefEnter"; }
bool is_exit(const Node& n) { return n.type() == "Exit" || n.type() == "RefExit"; }
bool is_next_iteration(const Node& n) {
  return n.type() == "NextIteration" || n.type() == "RefNextIteration";
}
bool is_merge(const Node& n) { return n.type() == "Merge" || n.type() == "RefMerge"; }

namespace {

bool has_back_edge(const Node& n) {
  if (!is_merge(n)) return false;
  for (const Output& in : n.inputs())
    if (is_next_iteration(*in.node)) return true;
  return false;
}

// Calls f for every node that must come before `n`.
template <class F>
void for_sources(const Node& n, F f) {
  const bool loops = has_back_edge(n);
  for (const Output& in : n.inputs())
    if (!loops || !is_next_iteration(*in.node)) f(in.node);
  for (Node* c : n.control_inputs()) f(c);
}

}  // namespace

LoopNest::LoopNest(const std::vector<Node*>& order) : order_(order), loops_(1) {
  bool any = false;
  for (size_t i = 0; i < order.size() && !any; ++i) {
    look_ahead_ids(order, i);
    any = is_enter(*order[i]);
  }
  if (!any) return;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto id = static_cast<size_t>(order[i]->id());
    if (id >= positions_.size()) positions_.resize(id + 1, -1);
    positions_[id] = static_cast<int>(i);
  }
  of_.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    Node* n = order[i];
    of_[i] = loop_of(n);
    if (has_back_edge(*n)) loops_[of_[i]].variables.push_back(n);
    if (is_exit(*n)) loops_[of(n->inputs()[0].node)].exits.push_back(n);
  }
}

int LoopNest::position(const Node* n) const {
  const auto id = static_cast<size_t>(n->id());
  return id < positions_.size() ? positions_[id] : -1;
}

int LoopNest::of(const Node* n) const {
  const int p = position(n);
  return p < 0 ? 0 : of_[p];
}

int LoopNest::loop_of(const Node* n) {
  int loop = 0;
  const Node* from = nullptr;
  for_sources(*n, [&](const Node* source) {
    if (position(source) < 0) return;
    const int other = of(source);
    if (from && other != loop)
      throw invalid_argument(fmt::format(
                                 "{{{{node {}}}}} has inputs from different frames. The input "
                                 "{{{{node {}}}}} is in frame '{}'. The input {{{{node {}}}}} is "
                                 "in frame '{}'.",
                                 n->name(), source->name(), loops_[other].name, from->name(),
                                 loops_[loop].name))
          .at_node(n->name(), n->type())
          .from_source(n->source());
    loop = other;
    from = source;
  });
  if (is_enter(*n)) return child(loop, *n);
  if (!is_exit(*n)) return loop;
  if (loop == 0)
    throw invalid_argument(fmt::format("The Exit node '{}' is in no loop", n->name()))
        .at_node(n->name(), n->type());
  return loops_[loop].parent;
}

int LoopNest::child(int parent, const Node& enter) {
  const auto& name = enter.attr("frame_name")->as<std::string>();
  for (size_t i = 1; i < loops_.size(); ++i)
    if (loops_[i].parent == parent && loops_[i].name == name) return static_cast<int>(i);
  loops_.push_back({name, parent, {}, {}});
  return static_cast<int>(loops_.size()) - 1;
}

bool LoopNest::inside(int loop, int outer) const {
  while (loop > outer) loop = loops_[loop].parent;
  return loop == outer;
}

int LoopNest::unit_of(size_t position, int loop) const {
  int mine = of_[position];
  if (mine == loop) return -1;
  while (loops_[mine].parent != loop) mine = loops_[mine].parent;
  return mine;
}

std::vector<LoopNest::Unit> LoopNest::units(int loop) const {
  std::vector<Unit> units;
  std::vector<int> number(order_.size(), -1), of_loop(loops_.size(), -1);
  for (size_t i = 0; i < order_.size(); ++i) {
    if (!inside(of_[i], loop)) continue;
    const int child = unit_of(i, loop);
    int& unit = child < 0 ? number[i] : of_loop[child];
    if (unit < 0) {
      unit = static_cast<int>(units.size());
      units.push_back(child < 0 ? Unit{order_[i], -1} : Unit{nullptr, child});
    }
    number[i] = unit;
  }
  std::vector<std::vector<int>> users(units.size());
  std::vector<int> waits(units.size(), 0);
  for (size_t i = 0; i < order_.size(); ++i)
    if (number[i] >= 0)
      for_sources(*order_[i], [&](const Node* source) {
        const int p = position(source);
        if (p < 0 || number[p] < 0 || number[p] == number[i]) return;
        users[number[p]].push_back(number[i]);
        ++waits[number[i]];
      });
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t u = 0; u < units.size(); ++u)
    if (waits[u] == 0) ready.push(static_cast<int>(u));
  std::vector<Unit> ordered;
  while (!ready.empty()) {
    const int u = ready.top();
    ready.pop();
    ordered.push_back(units[u]);
    for (int user : users[u])
      if (--waits[user] == 0) ready.push(user);
  }
  if (ordered.size() != units.size())
    throw invalid_argument(fmt::format("The loops in frame '{}' wait for each other",
                                       loops_[loop].name));
  return ordered;
}

std::vector<Node*> LoopNest::nodes(int loop) const {
  std::vector<Node*> result;
  for (size_t i = 0; i < order_.size(); ++i)
    if (inside(of_[i], loop)) result.push_back(order_[i]);
  return result;
}

}  // namespace emplace
