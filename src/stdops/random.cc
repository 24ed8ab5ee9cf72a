// Random numbers.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void key_counter(ShapeContext& c) {
  const Shape seed = c.with_rank(0, 1);
  if (seed[0] >= 0) c.merge_dims(seed[0], 2);
  c.set_output(0, Shape{1});
  c.set_output(1, Shape{2});
  if (c.num_outputs() > 2) c.set_output(2, Shape{});
}

void generated_oldest(ShapeContext& c) { c.set_output(0, c.input_as_shape(1)); }

constexpr OpRow kRandomRows[] = {
    {"RandomUniform(shape: T) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: type in "
     "[half,bfloat16,float,double]; T: type in [int32,int64] | stateful",
     from_first, cost_rules::random,
     "Numbers from [0, 1), all equally likely."},
    {"RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> (output: Tout) | seed: int = 0; "
     "seed2: int = 0; Tout: type in [int32,int64]; T: type in [int32,int64] | stateful",
     from_first, cost_rules::random,
     "Whole numbers from [minval, maxval)."},
    {"RandomStandardNormal(shape: T) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: "
     "type in [half,bfloat16,float,double]; T: type in [int32,int64] | stateful",
     from_first, cost_rules::random,
     "Numbers from the normal distribution."},
    {"TruncatedNormal(shape: T) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: type "
     "in [half,bfloat16,float,double]; T: type in [int32,int64] | stateful",
     from_first, cost_rules::random,
     "Normal numbers without those beyond two deviations."},
    {"RandomShuffle(value: T) -> (output: T) | seed: int = 0; seed2: int = 0; T: type | stateful",
     unchanged, elementwise,
     "The rows in a random order."},
    {"StatelessRandomUniform(shape: T, seed: Tseed) -> (output: dtype) | dtype: type in [half,"
     "bfloat16,float,double] = float; T: type in [int32,int64] = int32; Tseed: type in [int32,"
     "int64] = int64",
     from_first, cost_rules::random,
     "Numbers from [0, 1) that the seed alone decides."},
    {"StatelessRandomUniformV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> "
     "(output: dtype) | dtype: type in [half,bfloat16,float,double] = float; Tshape: type in "
     "[int32,int64] = int32",
     from_first, cost_rules::random,
     "Numbers from [0, 1) that the seed alone decides."},
    {"StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> (output: "
     "dtype) | dtype: type in [int32,int64]; T: type in [int32,int64]; Tseed: type in [int32,"
     "int64] = int64",
     from_first, cost_rules::random,
     "Whole numbers from [minval, maxval) that the seed alone decides."},
    {"StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, "
     "minval: dtype, maxval: dtype) -> (output: dtype) | dtype: type in [int32,int64,uint32,"
     "uint64]; Tshape: type in [int32,int64] = int32",
     from_first, cost_rules::random,
     "Whole numbers from [minval, maxval) that the seed alone decides."},
    {"StatelessRandomUniformFullInt(shape: T, seed: Tseed) -> (output: dtype) | dtype: type in "
     "[int32,int64,uint32,uint64] = uint64; T: type in [int32,int64] = int32; Tseed: type in "
     "[int32,int64,uint32,uint64] = int64",
     from_first, cost_rules::random,
     "Whole numbers of all bits that the seed alone decides."},
    {"StatelessRandomUniformFullIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) "
     "-> (output: dtype) | dtype: type in [int32,int64,uint32,uint64] = uint64; Tshape: type in "
     "[int32,int64] = int32",
     from_first, cost_rules::random,
     "Whole numbers of all bits that the seed alone decides."},
    {"StatelessRandomNormal(shape: T, seed: Tseed) -> (output: dtype) | dtype: type in [half,"
     "bfloat16,float,double] = float; T: type in [int32,int64] = int32; Tseed: type in [int32,"
     "int64] = int64",
     from_first, cost_rules::random,
     "Normal numbers that the seed alone decides."},
    {"StatelessRandomNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> "
     "(output: dtype) | dtype: type in [half,bfloat16,float,double] = float; Tshape: type in "
     "[int32,int64] = int32",
     from_first, cost_rules::random,
     "Normal numbers that the seed alone decides."},
    {"StatelessTruncatedNormal(shape: T, seed: Tseed) -> (output: dtype) | dtype: type in [half,"
     "bfloat16,float,double] = float; T: type in [int32,int64] = int32; Tseed: type in [int32,"
     "int64] = int64",
     from_first, cost_rules::random,
     "Truncated normal numbers that the seed alone decides."},
    {"StatelessTruncatedNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> "
     "(output: dtype) | dtype: type in [half,bfloat16,float,double] = float; Tshape: type in "
     "[int32,int64] = int32",
     from_first, cost_rules::random,
     "Truncated normal numbers that the seed alone decides."},
    {"StatelessRandomGetKeyCounter(seed: Tseed) -> (key: uint64, counter: uint64) | Tseed: type "
     "in [int32,int64] = int64",
     key_counter, cheap,
     "Key and counter of a seed."},
    {"StatelessRandomGetKeyCounterAlg(seed: Tseed) -> (key: uint64, counter: uint64, alg: int32) "
     "| Tseed: type in [int32,int64] = int64",
     key_counter, cheap,
     "Key, counter and algorithm of a seed."},
    {"StatelessRandomGetAlg() -> (alg: int32) | stateful",
     scalar, cheap,
     "The algorithm that random numbers come from."},
    {"StatefulStandardNormal(resource: resource, shape: shape_dtype) -> (output: dtype) | dtype: "
     "type = float; shape_dtype: type = int64 | stateful",
     generated_oldest, cost_rules::random,
     "Normal numbers of a generator."},
    {"StatefulStandardNormalV2(resource: resource, algorithm: int64, shape: shape_dtype) -> "
     "(output: dtype) | dtype: type = float; shape_dtype: type = int64 | stateful",
     from_third, cost_rules::random,
     "Normal numbers of a generator."},
    {"StatefulTruncatedNormal(resource: resource, algorithm: int64, shape: shape_dtype) -> "
     "(output: dtype) | dtype: type = float; shape_dtype: type = int64 | stateful",
     from_third, cost_rules::random,
     "Truncated normal numbers of a generator."},
    {"StatefulUniform(resource: resource, algorithm: int64, shape: shape_dtype) -> (output: dtype) "
     "| dtype: type = float; shape_dtype: type = int64 | stateful",
     from_third, cost_rules::random,
     "Numbers from [0, 1) of a generator."},
    {"StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, "
     "maxval: dtype) -> (output: dtype) | dtype: type = int64; shape_dtype: type = int64 | stateful",
     from_third, cost_rules::random,
     "Whole numbers from [minval, maxval) of a generator."},
    {"StatefulUniformFullInt(resource: resource, algorithm: int64, shape: shape_dtype) -> (output: "
     "dtype) | dtype: type = uint64; shape_dtype: type = int64 | stateful",
     from_third, cost_rules::random,
     "Whole numbers of all bits of a generator."},
    {"NonDeterministicInts(shape: shape_dtype) -> (output: dtype) | dtype: type = int64; "
     "shape_dtype: type = int64 | stateful",
     from_first, cost_rules::random,
     "Whole numbers that nobody can foresee."},
    {"RngSkip(resource: resource, algorithm: int64, delta: int64) -> () | stateful",
     none, cheap,
     "Moves a generator on."},
    {"StatelessShuffle(value: T, key: uint64, counter: uint64, alg: int32) -> (output: T) | T: type",
     unchanged, elementwise,
     "The rows in an order that the seed alone decides."},
};

}  // namespace

std::span<const OpRow> random_ops() { return kRandomRows; }

}  // namespace emplace::stdops
