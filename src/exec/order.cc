#include "exec/order.h"

#include <algorithm>
#include <numeric>
#include <span>

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

// What each step waits for, behind each other.
class Order::Before {
 public:
  explicit Before(const StepGraph& g) {
    first_.reserve(g.steps.size() + 1);
    std::vector<int> preds;
    for (size_t i = 0; i < g.steps.size(); ++i) {
      look_ahead(g, i);
      predecessors(g, static_cast<int>(i), preds);
      first_.push_back(all_.size());
      all_.insert(all_.end(), preds.begin(), preds.end());
    }
    first_.push_back(all_.size());
  }
  std::span<const int> of(size_t i) const {
    return std::span(all_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  std::vector<int> all_;
  std::vector<size_t> first_;
};

Order::Order(const StepGraph& g) {
  const size_t n = g.steps.size();
  chain_.assign(n, -1);
  position_.assign(n, 0);
  const Before preds(g);
  make_chains(g, preds);
  clock_.assign(n * kTracked, -1);
  for (size_t i = 0; i < n; ++i) {
    int32_t* clock = &clock_[i * kTracked];
    for (int p : preds.of(i)) {
      const int32_t* theirs = &clock_[static_cast<size_t>(p) * kTracked];
      for (int c = 0; c < kTracked; ++c) clock[c] = std::max(clock[c], theirs[c]);
    }
    if (chain_[i] < kTracked) clock[chain_[i]] = position_[i];
  }
  behind_.assign(n, -1);
  for (size_t i = n; i-- > 0;) {
    const auto first = chain_[i] < kTracked ? static_cast<int32_t>(i) : behind_[i];
    for (int p : preds.of(i))
      if (first >= 0 && chain_[p] >= kTracked && (behind_[p] < 0 || first < behind_[p]))
        behind_[p] = first;
  }
}

// Lines are chains already. The longest of the others are tracked beside them.
void Order::make_chains(const StepGraph& g, const Before& preds) {
  const size_t n = g.steps.size();
  int lines = 0;
  for (const Step& s : g.steps) lines = std::max(lines, s.line + 1);
  std::vector<int> tail(static_cast<size_t>(lines), -1);  // of each chain
  std::vector<int32_t> length(static_cast<size_t>(lines), 0);
  for (size_t i = 0; i < n; ++i) {
    chain_[i] = g.steps[i].line;
    for (int p : preds.of(i))
      if (chain_[i] < 0 && chain_[p] >= lines && tail[chain_[p]] == p) chain_[i] = chain_[p];
    if (chain_[i] < 0) {
      chain_[i] = static_cast<int32_t>(tail.size());
      tail.push_back(-1);
      length.push_back(0);
    }
    position_[i] = length[chain_[i]]++;
    tail[chain_[i]] = static_cast<int>(i);
  }
  std::vector<int32_t> by_length(tail.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  const auto end = by_length.begin() + std::min<std::ptrdiff_t>(kTracked, std::ssize(by_length));
  std::partial_sort(
      by_length.begin() + std::min<std::ptrdiff_t>(lines, kTracked), end, by_length.end(),
      [&](int32_t a, int32_t b) { return length[a] != length[b] ? length[a] > length[b] : a < b; });
  std::vector<int32_t> number(tail.size());
  for (size_t c = 0; c < by_length.size(); ++c) number[by_length[c]] = static_cast<int32_t>(c);
  for (int32_t& c : chain_) c = number[c];
}

bool Order::before(int a, int b) const {
  if (a == b) return false;
  if (chain_[a] == chain_[b]) return position_[a] < position_[b];
  if (chain_[a] < kTracked) return surely_before(a, b);
  return behind_[a] >= 0 && (behind_[a] == b || surely_before(behind_[a], b));
}

// Of a step `a` of a tracked chain.
bool Order::surely_before(int a, int b) const {
  const auto at = static_cast<size_t>(b) * kTracked + static_cast<size_t>(chain_[a]);
  return a != b && clock_[at] >= position_[a];
}

}  // namespace emplace
