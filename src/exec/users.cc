#include "exec/users.h"

namespace emplace {

Users::Users(const StepGraph& g) {
  base_.reserve(g.steps.size());
  first_.reserve(g.steps.size() + 1);
  first_.push_back(0);
  for (size_t i = 0; i < g.steps.size(); ++i) {
    look_ahead(g, i);
    base_.push_back(static_cast<int>(first_.size()) - 1);
    first_.resize(first_.size() + g.steps[i].outputs.size(), 0);
    for (Port p : g.steps[i].inputs) ++first_[slot(p) + 1];
  }
  fetched_.assign(first_.size() - 1, false);
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  steps_.resize(static_cast<size_t>(first_.back()));
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < g.steps.size(); ++i) {
    look_ahead(g, i);
    for (Port p : g.steps[i].inputs) steps_[next[slot(p)]++] = static_cast<int>(i);
  }
  for (Port p : g.fetches) fetched_[slot(p)] = true;
}

}  // namespace emplace
