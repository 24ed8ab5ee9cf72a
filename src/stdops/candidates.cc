// Classes drawn for losses over a sample of many.
#include "op/shape_context.h"
#include "stdops/stdops.h"
#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace cost_rules;

void candidates(ShapeContext& c) {
  const Shape labels = c.with_rank(0, 2);
  const Shape drawn{c.attr<int64_t>("num_sampled")};
  c.set_output(0, drawn);
  c.set_output(1, Shape{labels[0], c.attr<int64_t>("num_true")});
  c.set_output(2, drawn);
}

void hits(ShapeContext& c) {
  if (const Shape labels = c.with_rank(0, 2);
      labels[1] >= 0 && labels[1] != c.attr<int64_t>("num_true"))
    throw invalid_argument("true_candidates must be a batch_size * num_true matrix");
  c.with_rank(1, 1);
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape{Shape::kUnknown});
}

constexpr OpRow kCandidatesRows[] = {
    {"UniformCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0 | "
     "stateful",
     candidates, transcendental,
     "Draws classes, each as likely as the others."},
    {"LogUniformCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0 | "
     "stateful",
     candidates, transcendental,
     "Draws classes that are sorted from common to rare."},
    {"LearnedUnigramCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0 | "
     "stateful",
     candidates, transcendental,
     "Draws classes as often as they were labels before."},
    {"ThreadUnsafeUnigramCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; range_max: int >= 1; seed: int = 0; seed2: int = 0 | "
     "stateful",
     candidates, transcendental,
     "Draws classes as often as they were labels before."},
    {"FixedUnigramCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; range_max: int >= 1; vocab_file: string = ''; "
     "distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int >= 1 = 1; shard: int >= "
     "0 = 0; unigrams: list(float) = []; seed: int = 0; seed2: int = 0 | stateful",
     candidates, transcendental,
     "Draws classes by given weights."},
    {"AllCandidateSampler(true_classes: int64) -> (sampled_candidates: int64, "
     "true_expected_count: float, sampled_expected_count: float) | num_true: int >= 1; "
     "num_sampled: int >= 1; unique: bool; seed: int = 0; seed2: int = 0 | stateful",
     candidates, cheap,
     "Every class, for tests."},
    {"ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> (indices: int32, "
     "ids: int64, weights: float) | num_true: int; seed: int = 0; seed2: int = 0",
     hits, elementwise,
     "Where a drawn class is a label."},
};

}  // namespace

std::span<const OpRow> candidate_ops() { return kCandidatesRows; }

}  // namespace emplace::stdops
