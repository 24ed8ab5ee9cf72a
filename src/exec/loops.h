#pragma once
#include <string>
#include <vector>

#include "emplace/graph.h"

namespace emplace {

bool is_enter(const Node& n);
bool is_exit(const Node& n);
bool is_next_iteration(const Node& n);
bool is_merge(const Node& n);

// The loops that TensorFlow 1 spells with Enter, Merge, Switch, NextIteration and Exit, among the
// nodes of a pruned graph. An Exit lies outside of the loop that it leaves.
class LoopNest {
 public:
  struct Loop {
    std::string name;
    int parent = -1;
    std::vector<Node*> variables;  // Merges that a NextIteration comes back to
    std::vector<Node*> exits;
  };
  // A node of a loop's own, or a loop inside it as a whole.
  struct Unit {
    Node* node = nullptr;
    int loop = -1;
  };

  // `order`: inputs first, but for NextIterations. Throws InvalidArgument in TensorFlow's words
  // when a node takes values of different loops.
  explicit LoopNest(const std::vector<Node*>& order);

  bool any() const { return loops_.size() > 1; }
  size_t count() const { return loops_.size(); }  // with 0
  // The loop that a node is in: Enters in that which they enter, Exits in the one around theirs.
  int frame(const Node* n) const { return any() ? of(n) : 0; }
  const Loop& loop(int i) const { return loops_[i]; }
  // What loop i (0: what lies in none) consists of, in an order in which it may run.
  std::vector<Unit> units(int i) const;
  std::vector<Node*> nodes(int i) const;  // … with those of the loops inside it

 private:
  int position(const Node* n) const;  // in order_; -1: not there
  int of(const Node* n) const;
  int loop_of(const Node* n);
  int child(int parent, const Node& enter);
  bool inside(int loop, int outer) const;
  int unit_of(size_t position, int loop) const;  // a child loop of `loop`, -1 a node of its own

  const std::vector<Node*>& order_;
  std::vector<int> positions_;  // by node id
  std::vector<int> of_;         // by position
  std::vector<Loop> loops_;
};

}  // namespace emplace
