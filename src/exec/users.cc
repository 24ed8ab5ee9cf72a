#include "exec/users.h"

namespace emplace {

Users::Users(const StepGraph& g) {
  int slots = 0;
  base_.reserve(g.steps.size());
  for (const Step& s : g.steps) {
    base_.push_back(slots);
    slots += static_cast<int>(s.outputs.size());
  }
  first_.assign(static_cast<size_t>(slots) + 1, 0);
  fetched_.assign(static_cast<size_t>(slots), false);
  for (const Step& s : g.steps)
    for (Port p : s.inputs) ++first_[slot(p) + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  steps_.resize(static_cast<size_t>(first_.back()));
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < g.steps.size(); ++i)
    for (Port p : g.steps[i].inputs) steps_[next[slot(p)]++] = static_cast<int>(i);
  for (Port p : g.fetches) fetched_[slot(p)] = true;
}

}  // namespace emplace
