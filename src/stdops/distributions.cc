// Random numbers of further distributions.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void given(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }

// The given shape for each parameter.
void per_parameter(ShapeContext& c) {
  Shape out = c.input_as_shape(0);
  const Shape& parameters = c.input(1);
  if (!out.has_rank() || !parameters.has_rank()) return c.set_output(0, Shape::unknown());
  for (int64_t d : parameters) out.push_back(d);
  c.set_output(0, out);
}

void samples(ShapeContext& c) {
  const Shape logits = c.with_rank(0, 2);
  c.with_rank(1, 0);
  const auto n = c.input_as_scalar(1);
  c.set_output(0, Shape{logits[0], n && *n >= 0 ? *n : Shape::kUnknown});
}

void bounded(ShapeContext& c) {
  for (int i = 1; i <= 4; ++i)
    if (const Shape& s = c.input(i); s.has_rank() && s.rank() > 1)
      throw invalid_argument(
          "Shape must be at most rank 1 but is rank " + std::to_string(s.rank()));
  given(c);
}

void sobol(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.with_rank(i, 0);
  const auto dim = c.input_as_scalar(0), count = c.input_as_scalar(1);
  const auto known = [](const auto& v) { return v && *v >= 0 ? *v : Shape::kUnknown; };
  c.set_output(0, Shape{known(count), known(dim)});
}

// One place for each place, key or limit.
void places(ShapeContext& c) {
  const Shape &index = c.input(0), &seed = c.input(1), &last = c.input(2);
  if (!index.has_rank() || !seed.has_rank() || !last.has_rank())
    return c.set_output(0, Shape::unknown());
  if (index.rank() == 0 && seed.rank() == 1 && last.rank() == 0) return c.set_output(0, Shape{});
  int64_t n = Shape::kUnknown;
  if (index.rank() == 1) n = index[0];
  if (last.rank() == 1 && n < 0) n = last[0];
  if (seed.rank() == 2 && n < 0) n = seed[0];
  c.set_output(0, Shape{n});
}

constexpr OpRow kDistributionsRows[] = {
    {"RandomGamma(shape: S, alpha: T) -> (output: T) | seed: int = 0; seed2: int = 0; S: type in "
     "[int32,int64]; T: type in [half,float,double] | stateful",
     per_parameter, transcendental,
     "Numbers of gamma distributions."},
    {"RandomGammaGrad(alpha: T, sample: T) -> (output: T) | T: type in [float,double]",
     broadcast_binary, transcendental,
     "How such a number changes with alpha."},
    {"StatelessRandomGammaV2(shape: T, seed: Tseed, alpha: dtype) -> (output: dtype) | dtype: "
     "type in [half,float,double]; T: type in [int32,int64]; Tseed: type in [int32,int64] = int64",
     given, transcendental,
     "Gamma-distributed numbers that the seed alone decides."},
    {"StatelessRandomGammaV3(shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: "
     "dtype) -> (output: dtype) | dtype: type in [half,float,double]; shape_dtype: type in [int32,"
     "int64] = int32",
     given, transcendental,
     "Gamma-distributed numbers that the seed alone decides."},
    {"RandomPoisson(shape: S, rate: dtype) -> (output: dtype) | seed: int = 0; seed2: int = 0; S: "
     "type in [int32,int64]; dtype: type in [half,float,double] | stateful",
     per_parameter, transcendental,
     "Numbers of Poisson distributions."},
    {"RandomPoissonV2(shape: S, rate: R) -> (output: dtype) | seed: int = 0; seed2: int = 0; S: "
     "type in [int32,int64]; R: type in [half,float,double,int32,int64] = double; dtype: type in "
     "[half,float,double,int32,int64] = int64 | stateful",
     per_parameter, transcendental,
     "Numbers of Poisson distributions."},
    {"StatelessRandomPoisson(shape: T, seed: Tseed, lam: Rtype) -> (output: dtype) | Rtype: type "
     "in [half,float,double,int32,int64]; dtype: type in [half,float,double,int32,int64]; T: type "
     "in [int32,int64]; Tseed: type in [int32,int64] = int64",
     given, transcendental,
     "Poisson-distributed numbers that the seed alone decides."},
    {"StatelessRandomBinomial(shape: S, seed: Tseed, counts: T, probs: T) -> (output: dtype) | S: "
     "type in [int32,int64]; Tseed: type in [int32,int64] = int64; T: type in [half,float,double,"
     "int32,int64] = double; dtype: type in [half,float,double,int32,int64] = int64",
     given, transcendental,
     "How many tries succeed; the seed alone decides."},
    {"StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) "
     "-> (output: dtype) | S: type in [int32,int64]; T: type in [half,float,double,int32,int64] = "
     "double; dtype: type in [half,float,double,int32,int64] = int64 | stateful",
     from_third, transcendental,
     "How many tries succeed, by a generator."},
    {"ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: "
     "dtype) -> (output: dtype) | seed: int = 0; seed2: int = 0; dtype: type in [half,bfloat16,"
     "float,double]; T: type in [int32,int64] | stateful",
     bounded, transcendental,
     "Normal numbers between two bounds; parameters for each first index."},
    {"StatelessParameterizedTruncatedNormal(shape: S, seed: Tseed, means: dtype, stddevs: dtype, "
     "minvals: dtype, maxvals: dtype) -> (output: dtype) | S: type in [int32,int64]; Tseed: type "
     "in [int32,int64] = int64; dtype: type in [half,float,double]",
     given, transcendental,
     "Normal numbers between two bounds; the seed alone decides."},
    {"SobolSample(dim: int32, num_results: int32, skip: int32) -> (samples: dtype) | dtype: type "
     "in [float,double] = float",
     sobol, elementwise,
     "Points of a Sobol' sequence, which fill a cube evenly."},
    {"RandomIndexShuffle(index: dtype, seed: Tseed, max_index: dtype) -> (output: dtype) | rounds: "
     "int = 4; dtype: type in [int32,uint32,int64,uint64]; Tseed: type in [int32,uint32,int64,"
     "uint64]",
     places, elementwise,
     "Where a place gets to in a random order."},
    {"Multinomial(logits: T, num_samples: int32) -> (output: output_dtype) | seed: int = 0; "
     "seed2: int = 0; T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
     "uint32,uint64]; output_dtype: type in [int32,int64] = int64 | stateful",
     samples, transcendental,
     "Classes by logarithms of their weights."},
    {"StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> (output: output_dtype) "
     "| T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,"
     "uint64]; Tseed: type in [int32,int64] = int64; output_dtype: type in [int32,int64] = int64",
     samples, transcendental,
     "Classes by logarithms of their weights; the seed alone decides."},
};

}  // namespace

std::span<const OpRow> distribution_ops() { return kDistributionsRows; }

}  // namespace emplace::stdops
