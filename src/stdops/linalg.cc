// Linear algebra.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Matrices in the last two dimensions; those before broadcast, or must agree.
void batch_matmul(ShapeContext& c, bool broadcasts) {
  const Shape a = c.with_rank_at_least(0, 2), b = c.with_rank_at_least(1, 2);
  if (!a.has_rank() || !b.has_rank()) return c.set_output(0, Shape::unknown());
  const bool ta = c.attr<bool>("adj_x"), tb = c.attr<bool>("adj_y");
  c.merge_dims(a[a.rank() - (ta ? 2 : 1)], b[b.rank() - (tb ? 1 : 2)]);
  const Shape lead_a(a.dims().first(static_cast<size_t>(a.rank() - 2)));
  const Shape lead_b(b.dims().first(static_cast<size_t>(b.rank() - 2)));
  Shape out = broadcasts ? c.broadcast(lead_a, lead_b) : c.merge(lead_a, lead_b);
  if (!out.has_rank()) return c.set_output(0, out);
  out.push_back(a[a.rank() - (ta ? 1 : 2)]);
  out.push_back(b[b.rank() - (tb ? 2 : 1)]);
  c.set_output(0, std::move(out));
}
void batch_matmul_v1(ShapeContext& c) { batch_matmul(c, false); }
void batch_matmul_v2(ShapeContext& c) { batch_matmul(c, true); }

constexpr OpRow kLinalgRows[] = {
    {"MatMul(a: T, b: T) -> (product: T) | transpose_a: bool = false; transpose_b: bool = false; "
     "T: type in [bfloat16,half,float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,"
     "complex128]; grad_a: bool = false; grad_b: bool = false",
     shape_rules::matmul, cost_rules::matmul,
     "The product of two matrices."},
    {"BatchMatMul(x: T, y: T) -> (output: T) | T: type in [bfloat16,half,float,double,int32,"
     "int64,complex64,complex128]; adj_x: bool = false; adj_y: bool = false; grad_x: bool = "
     "false; grad_y: bool = false",
     batch_matmul_v1, cost_rules::matmul,
     "Products of matrices, pair by pair."},
    {"BatchMatMulV2(x: T, y: T) -> (output: T) | T: type in [bfloat16,half,float,double,int16,"
     "int32,int64,uint8,uint16,uint32,uint64,complex64,complex128]; adj_x: bool = false; adj_y: "
     "bool = false; grad_x: bool = false; grad_y: bool = false",
     batch_matmul_v2, cost_rules::matmul,
     "Products of matrices, pair by pair; broadcasts."},
    {"BatchMatMulV3(x: Ta, y: Tb) -> (output: Tout) | Ta: type in [bfloat16,half,float,double,"
     "uint8,int8,int16,int32,int64,complex64,complex128]; Tb: type in [bfloat16,half,float,"
     "double,uint8,int8,int16,int32,int64,complex64,complex128]; Tout: type in [bfloat16,half,"
     "float,double,int16,int32,int64,complex64,complex128]; adj_x: bool = false; adj_y: bool = "
     "false; grad_x: bool = false; grad_y: bool = false",
     batch_matmul_v2, cost_rules::matmul,
     "Products of matrices of two dtypes; broadcasts."},
};

}  // namespace

std::span<const OpRow> linalg_ops() { return kLinalgRows; }

}  // namespace emplace::stdops
