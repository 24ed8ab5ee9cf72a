#include "backends/cpu/move.h"

#include <algorithm>

#include <fmt/format.h>

namespace emplace::cpu {

void Mover::copy_objects(char* to, const char* from, int64_t n) const {
  visit_storage(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::copy_n(reinterpret_cast<const T*>(from), n, reinterpret_cast<T*>(to));
  });
}

void Mover::zero(const Tensor& to, int64_t to_at, int64_t n) const {
  char* p = static_cast<char*>(to.raw()) + to_at * size_;
  if (is_plain(dtype_)) {
    std::memset(p, 0, static_cast<size_t>(n * size_));
    return;
  }
  visit_storage(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(reinterpret_cast<T*>(p), n, T());
  });
}

void Mover::fill(const Tensor& to, int64_t to_at, int64_t n, const void* element) const {
  visit_storage(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(to.data<T>() + to_at, n, *static_cast<const T*>(element));
  });
}

int checked_axis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank)
    throw invalid_argument(
        fmt::format("{} must be in the range [{}, {}), but got {}", what, -rank, rank, axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> int_values(const Tensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.num_elements()));
  visit_dtype(t.dtype(), Ints{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::copy_n(t.data<T>(), values.size(), values.begin());
  });
  return values;
}

int64_t int_scalar(const Tensor& t, std::string_view what) {
  if (t.num_elements() != 1)
    throw invalid_argument(
        fmt::format("{} must be a scalar, but has shape {}", what, t.shape().str()));
  int64_t value = 0;
  visit_dtype(t.dtype(), Ints{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = static_cast<int64_t>(*t.data<T>());
  });
  return value;
}

Shape shape_from(const Tensor& t, std::string_view what) {
  if (t.rank() != 1)
    throw invalid_argument(
        fmt::format("{} must be a vector of sizes, got shape {}", what, t.shape().str()));
  if (t.num_elements() > Shape::kMaxRank)
    throw invalid_argument(fmt::format("{} has {} dimensions, at most {} are possible", what,
                                       t.num_elements(), Shape::kMaxRank));
  const std::vector<int64_t> sizes = int_values(t);
  checked_elements(sizes);
  return Shape(sizes);
}

void put_int(Tensor& t, int64_t i, int64_t value) {
  if (t.dtype() == DType::kInt32)
    t.data<int32_t>()[i] = static_cast<int32_t>(value);
  else
    t.data<int64_t>()[i] = value;
}

}  // namespace emplace::cpu
