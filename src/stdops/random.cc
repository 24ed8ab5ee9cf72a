// Random numbers.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void shaped(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }

constexpr OpRow kRows[] = {
    {"RandomUniform(shape: T) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: type in "
     "[half,bfloat16,float,double]; T: type in [int32,int64] | stateful",
     shaped, transcendental,
     "Numbers from [0, 1), all equally likely."},
    {"RandomStandardNormal(shape: T) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: "
     "type in [half,bfloat16,float,double]; T: type in [int32,int64] | stateful",
     shaped, transcendental,
     "Numbers from the normal distribution."},
};

}  // namespace

std::span<const OpRow> random_ops() { return kRows; }

}  // namespace emplace::stdops
