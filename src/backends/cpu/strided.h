#pragma once
#include <span>
#include <vector>

#include "backends/cpu/move.h"

namespace emplace::cpu {

// A box of elements within a tensor: where it starts, and the distance of neighbours along each
// dimension (0 repeats, negative walks backwards).
struct Box {
  const Tensor* tensor;
  int64_t offset = 0;
  std::vector<int64_t> strides;

  // All of a tensor, packed.
  static Box whole(const Tensor& t);
};

// to[i] = from[i] for every index i below `sizes`.
void copy_box(KernelContext& c, std::span<const int64_t> sizes, const Box& from, const Box& to);

// out[i0, i1, …] = in[maps[0][i0], maps[1][i1], …]; out has as many dimensions as maps.
void copy_mapped(KernelContext& c, const Tensor& in, std::span<const std::vector<int64_t>> maps,
                 const Tensor& out);

std::vector<int64_t> row_major_strides(const Shape& s);

}  // namespace emplace::cpu
