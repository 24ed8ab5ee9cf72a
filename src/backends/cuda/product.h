#pragma once
#include "backends/cuda/launch.h"

namespace emplace::cuda {

// [batch, m, k] times [batch, k, n], rows first, without gaps; each stored the other way round if so
// said. No dimension is 0.
void batch_product(Gpu& gpu, DType dtype, void* out, const void* a, const void* b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, bool transpose_a = false,
                   bool transpose_b = false);

}  // namespace emplace::cuda
