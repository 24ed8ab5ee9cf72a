// Sequences: distances between them, the chance of a labelling, runs of words, lines of tables.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr int64_t kAny = Shape::kUnknown;

void edit_distance(ShapeContext& c) {
  for (int i : {0, 3}) {
    c.with_rank(i, 2);
    c.with_rank(i + 1, 1);
    c.with_rank(i + 2, 1);
  }
  c.set_output(0, Shape::unknown());
}

void ctc_loss(ShapeContext& c) {
  const Shape in = c.with_rank(0, 3);
  c.with_rank(1, 2);
  c.merge_dims(c.input(1).has_rank() ? c.input(1)[0] : kAny, c.with_rank(2, 1)[0]);
  const int64_t batch = c.merge_dims(in[1], c.with_rank(3, 1)[0]);
  c.set_output(0, Shape{batch});
  c.set_output(1, Shape{in[0], batch, in[2]});
}

void ctc_greedy(ShapeContext& c) {
  const Shape in = c.with_rank(0, 3);
  const int64_t batch = c.merge_dims(in[1], c.with_rank(1, 1)[0]);
  c.set_output(0, Shape{kAny, 2});
  c.set_output(1, Shape{kAny});
  c.set_output(2, Shape{2});
  c.set_output(3, Shape{batch, 1});
}

void ngrams(ShapeContext& c) {
  c.with_rank(0, 1);
  c.set_output(0, Shape{kAny});
  c.set_output(1, c.with_rank(1, 1));
}

void decode_csv(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.with_rank_at_most(i, 1);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
}

constexpr OpRow kRows[] = {
    {"EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
     "truth_indices: int64, truth_values: T, truth_shape: int64) -> (output: float) | normalize: "
     "bool = true; T: type",
     edit_distance, elementwise,
     "How many changes make one sequence the other."},
    {"CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> "
     "(loss: T, gradient: T) | preprocess_collapse_repeated: bool = false; ctc_merge_repeated: "
     "bool = true; ignore_longer_outputs_than_inputs: bool = false; T: type in [float,double] = "
     "float",
     ctc_loss, transcendental,
     "How unlikely a labelling is, and the gradient of that."},
    {"CTCGreedyDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: int64, "
     "decoded_values: int64, decoded_shape: int64, log_probability: T) | merge_repeated: bool = "
     "false; blank_index: int = -1; T: type in [float,double] = float",
     ctc_greedy, elementwise,
     "The labelling that is likeliest step by step."},
    {"StringNGrams(data: string, data_splits: Tsplits) -> (ngrams: string, ngrams_splits: Tsplits) "
     "| separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; "
     "pad_width: int; preserve_short_sequences: bool; Tsplits: type in [int32,int64] = int64",
     ngrams, elementwise,
     "Runs of words of each row."},
    {"DecodeCSV(records: string, record_defaults: OUT_TYPE) -> (output: OUT_TYPE) | OUT_TYPE: "
     "list(type) in [float,double,int32,int64,string] >= 1; field_delim: string = ','; "
     "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
     decode_csv, elementwise,
     "Lines of comma-separated values as columns."},
};

}  // namespace

std::span<const OpRow> sequence_ops() { return kRows; }

}  // namespace emplace::stdops
