#include "backends/cpu/broadcast.h"

#include <algorithm>

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace::cpu {
namespace {

// Dimension i from the right; absent ones count as 1.
int64_t dim_from_right(const Shape& s, int i) {
  return i < s.rank() ? s[s.rank() - 1 - i] : 1;
}

[[noreturn]] void incompatible(std::span<const Shape* const> shapes) {
  if (shapes.size() == 3)  // the three of a selection
    throw invalid_argument(fmt::format("condition {}, then {}, and else {} must be broadcastable",
                                       shapes[0]->str(), shapes[1]->str(), shapes[2]->str()));
  std::string text;
  for (const Shape* s : shapes) text += (text.empty() ? "" : " vs. ") + s->str();
  throw invalid_argument("Incompatible shapes: " + text);
}

}  // namespace

Shape broadcast_shape(std::span<const Shape* const> shapes) {
  int rank = 0;
  for (const Shape* s : shapes) rank = std::max(rank, s->rank());
  Shape out = Shape::unknown_dims(rank);
  for (int i = 0; i < rank; ++i) {
    int64_t size = 1;
    for (const Shape* s : shapes) {
      const int64_t d = dim_from_right(*s, i);
      if (d == 1 || d == size) continue;
      if (size != 1) incompatible(shapes);
      size = d;
    }
    out.set_dim(rank - 1 - i, size);
  }
  return out;
}

Broadcast::Broadcast(std::span<const Shape* const> shapes) { build(shapes); }

Broadcast::Broadcast(const Shape& a, const Shape& b) {
  const Shape* shapes[] = {&a, &b};
  build(shapes);
}

// Dimensions are gathered from the right, merged into the one before when every operand either
// moves along both or along neither; then turned round and given strides.
void Broadcast::build(std::span<const Shape* const> shapes) {
  operands_ = static_cast<int>(shapes.size());
  shape_ = broadcast_shape(shapes);
  checked_elements(shape_.dims());
  for (int i = 0; i < shape_.rank(); ++i) {
    const int64_t size = shape_[shape_.rank() - 1 - i];
    if (size == 1) continue;
    std::array<bool, kMaxOperands> moves{};
    for (int k = 0; k < operands_; ++k) moves[k] = dim_from_right(*shapes[k], i) == size;
    merge_dim(size, moves);
  }
  if (rank_ == 0) {  // all ones: a single element of each
    dims_[0] = rank_ = 1;
    for (int k = 0; k < operands_; ++k) strides_[k][0] = 1;
  }
  std::reverse(dims_.begin(), dims_.begin() + rank_);
  rows_ = inner() == 0 ? 0 : 1;
  for (int d = 0; d + 1 < rank_; ++d) rows_ *= dims_[d];
  for (int k = 0; k < operands_; ++k) {
    std::reverse(strides_[k].begin(), strides_[k].begin() + rank_);
    int64_t stride = 1;
    for (int d = rank_ - 1; d >= 0; --d) {
      if (!strides_[k][d]) continue;
      strides_[k][d] = stride;
      stride *= dims_[d];
    }
  }
}

void Broadcast::merge_dim(int64_t size, const std::array<bool, kMaxOperands>& moves) {
  bool alike = rank_ > 0;
  for (int k = 0; k < operands_ && alike; ++k)
    alike = (strides_[k][rank_ - 1] != 0) == moves[k];
  if (alike) {
    dims_[rank_ - 1] *= size;
    return;
  }
  if (rank_ == kMaxRank)
    throw unimplemented(fmt::format("Broadcast to {} is not supported yet.", shape_.str()));
  dims_[rank_] = size;
  for (int k = 0; k < operands_; ++k) strides_[k][rank_] = moves[k];
  ++rank_;
}

Broadcast::Cursor Broadcast::start(int64_t row) const {
  Cursor c;
  if (rows_ == 0) return c;
  for (int d = rank_ - 2; d >= 0; --d) {
    c.index[d] = row % dims_[d];
    row /= dims_[d];
    for (int k = 0; k < operands_; ++k) c.offsets[k] += c.index[d] * strides_[k][d];
  }
  return c;
}

}  // namespace emplace::cpu
