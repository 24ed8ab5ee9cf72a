#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

namespace emplace {

// What the latest steps took, as quartiles: few of them may be held up by others.
class StepTimes {
 public:
  static constexpr size_t kEnough = 12;

  void add(double seconds) { latest_[count_++ % latest_.size()] = seconds; }
  bool enough() const { return count_ >= kEnough; }
  double quartile() const { return at(0.25); }
  double median() const { return at(0.5); }
  // Beyond doubt, and by a share that matters.
  bool slower_than(const StepTimes& other) const {
    return enough() && other.enough() && quartile() > other.median() &&
           median() > 1.03 * other.median();
  }

 private:
  double at(double share) const {
    const size_t n = std::min(count_, latest_.size());
    if (n == 0) return 0;
    auto sorted = latest_;
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n));
    return sorted[static_cast<size_t>(share * static_cast<double>(n - 1))];
  }

  std::array<double, 48> latest_{};
  size_t count_ = 0;
};

}  // namespace emplace
