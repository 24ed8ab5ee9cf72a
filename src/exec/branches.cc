#include "exec/branches.h"

#include <algorithm>
#include <optional>

namespace emplace {
namespace {

bool chooses(const Node& n) { return n.type() == "Switch" || n.type() == "RefSwitch"; }

void unite(Conditions& all, const Conditions& more) {
  for (const Condition& c : more)
    if (std::ranges::find(all, c) == all.end()) all.push_back(c);
}

}  // namespace

Branches::Branches(const std::vector<Node*>& order, const FeedIndex& fed, const LoopNest& nest)
    : fed_(fed), nest_(nest) {
  if (std::ranges::none_of(order, [](const Node* n) { return chooses(*n); })) return;
  for (const Node* n : order) conditions_[n] = is_merge(*n) ? of_merge(*n) : is_exit(*n) ? of_exit(*n) : of_inputs(*n);
}

Conditions Branches::of(const Output& o) const {
  Conditions conditions = of(*o.node);
  if (chooses(*o.node)) unite(conditions, {{o.node->inputs()[1], o.index}});
  return conditions;
}

Conditions Branches::of(const Node& n) const {
  const auto it = conditions_.find(&n);
  return it == conditions_.end() ? Conditions{} : it->second;
}

Conditions Branches::of_inputs(const Node& n) const {
  Conditions conditions;
  for (const Output& in : n.inputs())
    if (!fed_.contains(in)) unite(conditions, of(in));
  for (const Node* c : n.control_inputs()) unite(conditions, of(*c));
  return conditions;
}

// A merge lives by any of its inputs; a loop's by what enters it.
Conditions Branches::of_merge(const Node& n) const {
  std::optional<Conditions> common;
  for (const Output& in : n.inputs()) {
    if (is_next_iteration(*in.node)) continue;
    const Conditions own = fed_.contains(in) ? Conditions{} : of(in);
    if (!common) common = own;
    else std::erase_if(*common, [&](const Condition& c) { return std::ranges::find(own, c) == own.end(); });
  }
  return common.value_or(Conditions{});
}

// What leaves a loop no longer depends on its rounds.
Conditions Branches::of_exit(const Node& n) const {
  Conditions conditions = of_inputs(n);
  const int loop = nest_.frame(n.inputs()[0].node);
  std::erase_if(conditions, [&](const Condition& c) { return nest_.frame(c.predicate.node) == loop; });
  return conditions;
}

}  // namespace emplace
