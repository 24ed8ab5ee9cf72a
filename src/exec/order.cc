#include "exec/order.h"

#include <algorithm>

namespace emplace {

void predecessors(const StepGraph& g, int step, std::vector<int>& out) {
  out.clear();
  const Step& s = g.steps[step];
  for (Port p : s.inputs)
    if (!g.steps[p.step].is_value()) out.push_back(p.step);
  for (int c : s.controls) out.push_back(c);
  if (out.size() < 2) return;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

Order::Order(const StepGraph& g) {
  const size_t n = g.steps.size();
  chain_.assign(n, -1);
  position_.assign(n, 0);
  clock_.assign(n * kTracked, -1);
  std::vector<int> tail;  // of each chain
  std::vector<int> preds;
  for (size_t i = 0; i < n; ++i) {
    look_ahead(g, i);
    predecessors(g, static_cast<int>(i), preds);
    int32_t* clock = &clock_[i * kTracked];
    for (int p : preds) {
      const int32_t* theirs = &clock_[static_cast<size_t>(p) * kTracked];
      for (int c = 0; c < kTracked; ++c) clock[c] = std::max(clock[c], theirs[c]);
      if (chain_[i] < 0 && tail[chain_[p]] == p) {
        chain_[i] = chain_[p];
        position_[i] = position_[p] + 1;
      }
    }
    if (chain_[i] < 0) {
      chain_[i] = static_cast<int32_t>(tail.size());
      tail.push_back(0);
    }
    tail[chain_[i]] = static_cast<int>(i);
    if (chain_[i] < kTracked) clock[chain_[i]] = position_[i];
  }
}

bool Order::before(int a, int b) const {
  if (a == b) return false;
  const int32_t c = chain_[a];
  if (c == chain_[b]) return position_[a] < position_[b];
  return c < kTracked && clock_[static_cast<size_t>(b) * kTracked + static_cast<size_t>(c)] >=
                             position_[a];
}

}  // namespace emplace
