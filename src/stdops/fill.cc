// Tensors made of nothing but a shape and a few values.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void fill(ShapeContext& c) {
  c.with_rank(1, 0);
  if (const auto sizes = c.input_as_vector(0))
    for (int64_t n : *sizes)
      if (n < 0) throw invalid_argument("Fill dimensions must be >= 0");
  c.set_output(0, c.input_as_shape(0));
}

constexpr OpRow kFillRows[] = {
    {"Fill(dims: index_type, value: T) -> (output: T) | T: type; index_type: type in [int32,"
     "int64] = int32",
     fill, moved,
     "A tensor with one value everywhere."},
    {"ZerosLike(x: T) -> (y: T) | T: type",
     unchanged, moved,
     "Zeros in the shape of the input."},
    {"OnesLike(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,uint8,int16,uint16,"
     "int32,uint32,int64,uint64,complex64,complex128,bool]",
     unchanged, moved,
     "Ones in the shape of the input."},
};

}  // namespace

std::span<const OpRow> fill_ops() { return kFillRows; }

}  // namespace emplace::stdops
