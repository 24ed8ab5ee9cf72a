#pragma once
#include "backends/cpu/gemm.h"

namespace emplace::cpu {

// Products of floats and doubles: operands are packed into strips that suit the machine's vectors,
// then C is made block by block, shared out over the intra-op pool. C's bits depend on the shape
// only (and on whether the machine fuses multiply and add).
void blocked_gemm(KernelContext& c, const GemmShape& s, const float* a, const float* b, float* out);
void blocked_gemm(KernelContext& c, const GemmShape& s, const double* a, const double* b,
                  double* out);

// How far apart the rows of the operands lie, as they are stored, and those of C.
struct GemmRows {
  int64_t a, b, c;
};
// C += A * B, of parts of larger matrices.
void add_product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const float* a,
                 const float* b, float* out);
void add_product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const double* a,
                 const double* b, double* out);

}  // namespace emplace::cpu
