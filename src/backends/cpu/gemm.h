#pragma once
#include "kernel/kernel.h"

namespace emplace::cpu {

// One product C[m,n] = A[m,k] * B[k,n] of row-major matrices, either operand stored transposed.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
};

// Shares large products out over the intra-op pool; the bits depend on the shape only.
void gemm(KernelContext& c, DType dtype, const GemmShape& s, const void* a, const void* b,
          void* out);

// Holds oneDNN back to the calling thread: before its primitives are made or run. Nothing in a build
// without it.
void one_dnnl_thread();

}  // namespace emplace::cpu
