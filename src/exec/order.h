#pragma once
#include <cstdint>
#include <vector>

#include "exec/step_graph.h"

namespace emplace {

// Answers "is step a surely done before step b starts?" in constant time, in memory linear in the
// number of steps. Steps are cut into chains; of the longest kTracked chains every step knows how
// far along it they are sure. A step of another chain is asked for by the first step behind it that
// is of a tracked one; so the answer may be "not sure" when it is so in fact: safe, since the
// answer only allows memory to be reused.
class Order {
 public:
  static constexpr int kTracked = 32;
  explicit Order(const StepGraph& g);
  bool before(int a, int b) const;

 private:
  class Before;
  void make_chains(const StepGraph& g, const Before& preds);
  bool surely_before(int a, int b) const;

  std::vector<int32_t> chain_, position_;
  std::vector<int32_t> behind_;  // of an untracked step: the first tracked one behind it; -1 none
  HostVector<int32_t> clock_;  // kTracked a step: position reached, -1 none
};

// Every step that `step` waits for, each once.
void predecessors(const StepGraph& g, int step, std::vector<int>& out);

}  // namespace emplace
