#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "exec/step_graph.h"

namespace emplace {

// For each output slot of a step graph, the steps that take it. Slots are numbered step by step.
class Users {
 public:
  explicit Users(const StepGraph& g);

  size_t num_slots() const { return first_.size() - 1; }
  size_t num_uses() const { return steps_.size(); }
  int slot(Port p) const { return base_[p.step] + p.output; }
  int step_of(int slot) const {
    return static_cast<int>(std::upper_bound(base_.begin(), base_.end(), slot) - base_.begin()) - 1;
  }
  std::span<const int> of(int slot) const {
    return {steps_.data() + first_[slot], static_cast<size_t>(first_[slot + 1] - first_[slot])};
  }
  std::span<const int> of(Port p) const { return of(slot(p)); }
  bool fetched(int slot) const { return fetched_[slot]; }

 private:
  std::vector<int> base_;   // first slot of each step
  std::vector<int> first_;  // by slot, into steps_
  std::vector<int> steps_;
  std::vector<bool> fetched_;
};

}  // namespace emplace
