#pragma once
#include "kernel/kernel.h"

namespace emplace {

// For kernels that keep values beyond their call (lists, stacks, queues): an input may lie in memory
// that the plan writes over, so what is kept is copied.

// A copy of `t` in memory of its own, where the call's device keeps values of that kind.
Tensor keep(KernelContext& c, const Tensor& t);
// … of rows [begin, end), under `shape`.
Tensor keep_rows(KernelContext& c, const Tensor& t, int64_t begin, int64_t end, const Shape& shape);
// Copies `from` to the elements of `to`, which is of its dtype, from `first` on.
void put(KernelContext& c, Tensor& to, int64_t first, const Tensor& from);
void put_zeros(KernelContext& c, Tensor& to, int64_t first, int64_t count);

// Throws where what was kept is not of the dtype that the call declares for its output.
void check_output(const KernelContext& c, int output, DType kept);

// Shapes as kernels of that kind put them together.
Shape with_first(int64_t first, const Shape& rest);
Shape without_first(const Shape& s);
// A shape given as a vector, or as the scalar -1: any.
Shape shape_from(const Tensor& t);

}  // namespace emplace
