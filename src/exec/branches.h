#pragma once
#include <unordered_map>
#include <vector>

#include "exec/loops.h"
#include "exec/prune.h"

namespace emplace {

// What must be so for a value to live: a predicate has taken a branch.
struct Condition {
  Output predicate;
  int branch = 0;
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

// The branches of TensorFlow 1 (Switch and Merge) that each node of a pruned graph is in, the bodies of
// loops among them. `order`, `fed` and `nest` must outlive it.
class Branches {
 public:
  Branches(const std::vector<Node*>& order, const FeedIndex& fed, const LoopNest& nest);
  Conditions of(const Output& o) const;
  Conditions of(const Node& n) const;

 private:
  Conditions of_inputs(const Node& n) const;
  Conditions of_merge(const Node& n) const;
  Conditions of_exit(const Node& n) const;

  const FeedIndex& fed_;
  const LoopNest& nest_;
  std::unordered_map<const Node*, Conditions> conditions_;
};

}  // namespace emplace
