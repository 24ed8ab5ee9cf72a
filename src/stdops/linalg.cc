// Linear algebra.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kRows[] = {
    {"MatMul(a: T, b: T) -> (product: T) | transpose_a: bool = false; transpose_b: bool = false; "
     "T: type in [bfloat16,half,float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,"
     "complex128]; grad_a: bool = false; grad_b: bool = false",
     shape_rules::matmul, cost_rules::matmul,
     "The product of two matrices."},
};

}  // namespace

std::span<const OpRow> linalg_ops() { return kRows; }

}  // namespace emplace::stdops
