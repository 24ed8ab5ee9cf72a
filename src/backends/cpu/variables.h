#pragma once
#include <algorithm>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/resource_variable.h"

namespace emplace::cpu {

// Calls f(tensors) on the memory of inputs 0 … n-1, all variables, which f may change in place. They
// are locked in the order of their addresses, so that two such calls cannot wait for each other.
template <class F>
void update_variables(KernelContext& c, int n, F&& f) {
  std::vector<std::pair<Variable*, int>> order;
  for (int i = 0; i < n; ++i) order.emplace_back(&c.variable(i), i);
  std::sort(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i].first == order[i - 1].first)
      throw invalid_argument("a variable may stand only once among those to be updated");
  for (const auto& [variable, at] : order) check_exists(*variable);
  std::vector<Tensor*> tensors(static_cast<size_t>(n));
  auto enter = [&](auto& self, size_t k) -> void {
    if (k == order.size()) return f(tensors);
    order[k].first->update(c.own_aliases(), [&](Tensor& t) {
      tensors[static_cast<size_t>(order[k].second)] = &t;
      self(self, k + 1);
    });
  };
  enter(enter, 0);
}

}  // namespace emplace::cpu
