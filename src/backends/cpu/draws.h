#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "backends/cpu/loops.h"
#include "backends/cpu/random.h"

namespace emplace::cpu {

// Draws for one number of the output; pairs are used from the back.
class Draws {
 public:
  explicit Draws(const Philox& gen) : gen_(gen) {}
  double uniform() {
    if (uniforms_ == 0) refill(uniform_, uniforms_, philox_uniform<double>);
    return uniform_[--uniforms_];
  }
  double normal() {
    if (normals_ == 0) refill(normal_, normals_, philox_normal<double>);
    return normal_[--normals_];
  }

 private:
  template <class F>
  void refill(std::array<double, 2>& pair, size_t& left, F&& fill) {
    fill(gen_, std::span<double>(pair));
    gen_.skip(1);
    left = 2;
  }
  Philox gen_;
  std::array<double, 2> uniform_{}, normal_{};
  size_t uniforms_ = 0, normals_ = 0;
};

// A shape that is asked for ends with what the parameters broadcast to.
inline void check_ends_with(const Shape& shape, const Shape& end) {
  bool fits = end.rank() <= shape.rank();
  for (int i = 1; fits && i <= end.rank(); ++i)
    fits = end[end.rank() - i] == shape[shape.rank() - i];
  if (!fits) throw invalid_argument("Shape passed in must end with broadcasted shape.");
}

template <class T>
T rounded(double v) {  // what T does not hold is its largest value, and NaN is 0
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(v)) return 0;
    const auto most = static_cast<double>(std::numeric_limits<T>::max());
    return v >= most ? std::numeric_limits<T>::max() : static_cast<T>(v);
  } else {
    return static_cast<T>(static_cast<Compute<T>>(v));
  }
}
}  // namespace emplace::cpu
