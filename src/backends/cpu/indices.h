#pragma once
#include <fmt/format.h>

#include "emplace/tensor.h"

namespace emplace::cpu {

// Element i of a tensor of indices: int16, uint16, int32 or int64.
inline int64_t index_at(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kInt16: return t.data<int16_t>()[i];
    case DType::kUint16: return t.data<uint16_t>()[i];
    case DType::kInt32: return t.data<int32_t>()[i];
    default: return t.data<int64_t>()[i];
  }
}

// Row `row` of such a tensor, as errors show it: "[1, 2]".
inline std::string index_row(const Tensor& indices, int64_t row) {
  const int64_t depth = indices.dim(indices.rank() - 1);
  std::string text;
  for (int64_t i = 0; i < depth; ++i)
    text += fmt::format("{}{}", i ? ", " : "", index_at(indices, row * depth + i));
  return "[" + text + "]";
}

// Where the element `flat` of the first `rank` dimensions stands: "[1,2]"; nothing for a scalar.
inline std::string position_text(const Shape& shape, int rank, int64_t flat) {
  if (rank == 0) return "";
  std::string text = "]";
  for (int i = rank - 1; i >= 0; --i) {
    text = fmt::format("{}{}{}", i == 0 ? '[' : ',', flat % shape[i], text);
    flat /= shape[i];
  }
  return text;
}

// Elements in dimensions [begin, end).
inline int64_t dims_product(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s[i];
  return n;
}

}  // namespace emplace::cpu
