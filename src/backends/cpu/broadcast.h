#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "emplace/shape.h"

namespace emplace::cpu {

// How operands of different shapes meet, with neighbouring dimensions merged wherever every operand
// treats them alike. The innermost dimension has stride 1 or 0 for each operand.
class Broadcast {
 public:
  static constexpr int kMaxOperands = 4;
  static constexpr int kMaxRank = 16;

  // Throws InvalidArgument "Incompatible shapes: [2] vs. [3]", Unimplemented beyond kMaxRank.
  explicit Broadcast(std::span<const Shape* const> shapes);
  Broadcast(const Shape& a, const Shape& b);

  const Shape& shape() const { return shape_; }  // of the result
  int64_t rows() const { return rows_; }         // number of innermost runs
  int64_t inner() const { return dims_[rank_ - 1]; }
  // 1 or 0: does the operand move along the innermost dimension?
  int64_t inner_stride(int operand) const { return strides_[operand][rank_ - 1]; }
  // Is it one run?
  bool flat() const { return rows_ <= 1; }

  // Calls f(offsets, row) for rows [begin, end): elements' offsets of each operand at its start.
  template <class F>
  void for_rows(int64_t begin, int64_t end, F&& f) const {
    Cursor c = start(begin);
    for (int64_t row = begin; row < end; ++row) {
      f(c.offsets, row);
      advance(c);
    }
  }

 private:
  using Offsets = std::array<int64_t, kMaxOperands>;
  struct Cursor {
    Offsets offsets{};
    std::array<int64_t, kMaxRank> index;
  };
  Cursor start(int64_t row) const;
  void advance(Cursor& c) const {
    for (int d = rank_ - 2; d >= 0; --d) {
      for (int k = 0; k < operands_; ++k) c.offsets[k] += strides_[k][d];
      if (++c.index[d] < dims_[d]) return;
      for (int k = 0; k < operands_; ++k) c.offsets[k] -= strides_[k][d] * dims_[d];
      c.index[d] = 0;
    }
  }
  void build(std::span<const Shape* const> shapes);
  void merge_dim(int64_t size, const std::array<bool, kMaxOperands>& moves);

  Shape shape_;
  int operands_ = 0;
  int rank_ = 0;  // after merging; at least 1
  int64_t rows_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides_{};
};

// The shape that the operands broadcast to.
Shape broadcast_shape(std::span<const Shape* const> shapes);

}  // namespace emplace::cpu
