#pragma once
#include "backends/cpu/loops.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

enum class ScatterOp { kSet, kAdd, kSub, kMul, kDiv, kMax, kMin };

// to[i] = op(to[i], from[i]) for n elements of a dtype.
using ScatterLoop = void (*)(void* to, const void* from, int64_t n);
ScatterLoop scatter_loop(ScatterOp op, DType dtype);

// Applies `updates` to the slices of `to` that the rows of `indices` name. In the order of the
// indices, so that the result is the same every time.
void scatter_nd(const Tensor& indices, const Tensor& updates, ScatterLoop loop, const Tensor& to,
                bool ignore_bad);

}  // namespace emplace::cpu
