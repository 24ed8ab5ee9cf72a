// Sequences: distances between them, the chance of a labelling, runs of words, lines of tables.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

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

void ctc_beam(ShapeContext& c) {
  const Shape in = c.with_rank(0, 3);
  const int64_t batch = c.merge_dims(in[1], c.with_rank(1, 1)[0]);
  const auto paths = static_cast<int>(c.attr<int64_t>("top_paths"));
  for (int i = 0; i < paths; ++i) {
    c.set_output(i, Shape{kAny, 2});
    c.set_output(paths + i, Shape{kAny});
    c.set_output(2 * paths + i, Shape{2});
  }
  c.set_output(3 * paths, Shape{batch, paths});
}

void lstm_cell(ShapeContext& c) {
  const Shape x = c.with_rank(0, 2), cell = c.with_rank(1, 2);
  const int64_t batch = c.merge_dims(x[0], cell[0]);
  for (int i = 0; i < 7; ++i) c.set_output(i, Shape{batch, cell[1]});
}
void lstm_cell_gradient(ShapeContext& c) {
  const Shape x = c.with_rank(0, 2), cell = c.with_rank(1, 2);
  const int64_t batch = c.merge_dims(x[0], cell[0]), n = cell[1];
  c.set_output(0, Shape{batch, n});
  c.set_output(1, Shape{batch, n < 0 ? kAny : 4 * n});
  for (int i = 2; i < 5; ++i) c.set_output(i, Shape{n});
}
void lstm_sequence(ShapeContext& c) {
  const Shape x = c.with_rank(1, 3), cell = c.with_rank(2, 2);
  const int64_t batch = c.merge_dims(x[1], cell[0]);
  for (int i = 0; i < 7; ++i) c.set_output(i, Shape{x[0], batch, cell[1]});
}
void lstm_sequence_gradient(ShapeContext& c) {
  for (int i = 0; i < 8; ++i) c.set_output(i, c.input(i + 1));
}
void gru_cell(ShapeContext& c) {
  const Shape x = c.with_rank(0, 2), h = c.with_rank(1, 2);
  const int64_t batch = c.merge_dims(x[0], h[0]);
  for (int i = 0; i < 4; ++i) c.set_output(i, Shape{batch, h[1]});
}
void gru_cell_gradient(ShapeContext& c) {
  const Shape x = c.with_rank(0, 2), h = c.with_rank(1, 2);
  const int64_t batch = c.merge_dims(x[0], h[0]), n = h[1];
  c.set_output(0, x);
  c.set_output(1, Shape{batch, n});
  c.set_output(2, Shape{batch, n});
  c.set_output(3, Shape{batch, n < 0 ? kAny : 2 * n});
}

void isotonic(ShapeContext& c) {
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
}

// Every row of x meets all weights (of matrices at these inputs); a step of a sequence waits for the
// one before.
Work recurrent(const CostContext& c, int x, std::initializer_list<int> weights, int passes) {
  const Shape& in = c.inputs[static_cast<size_t>(x)];
  const double rows = CostContext::elements(in) / std::max(1.0, CostContext::dim(in, 1));
  const bool sequence = in.has_rank() && in.rank() == 3;
  double flops = 0, gates = 0;
  for (int w : weights) {
    const Shape& m = c.inputs[static_cast<size_t>(w)];
    flops += 2 * rows * CostContext::elements(m);
    gates += rows * CostContext::dim(m, 1);
  }
  return {.flops = passes * flops, .pieces = sequence ? passes * CostContext::dim(in, 3) : 1,
          .ops = passes * 10 * gates, .bytes = c.bytes()};
}
Work lstm_products(const CostContext& c) { return recurrent(c, 0, {3}, 1); }
Work lstm_sequence_products(const CostContext& c) { return recurrent(c, 1, {4}, 1); }
Work lstm_sequence_backward(const CostContext& c) { return recurrent(c, 1, {4}, 2); }
Work gru_products(const CostContext& c) { return recurrent(c, 0, {2, 3}, 1); }
Work gru_backward(const CostContext& c) { return recurrent(c, 0, {2, 3}, 1); }

constexpr OpRow kSequencesRows[] = {
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
    {"CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: top_paths*int64,"
     " decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T) | "
     "beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; T: type in [float,"
     "double] = float",
     ctc_beam, transcendental,
     "The likeliest labellings, found by a search of some width."},
    {"LSTMBlockCell(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> (i: T, cs: "
     "T, f: T, o: T, ci: T, co: T, h: T) | forget_bias: float = 1.0; cell_clip: float = 3.0; "
     "use_peephole: bool = false; T: type in [half,float]",
     lstm_cell, lstm_products,
     "A step of a long short-term memory."},
    {"LSTMBlockCellGrad(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: "
     "T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T) -> (cs_prev_grad: T, dicfo: T, wci_grad: "
     "T, wcf_grad: T, wco_grad: T) | use_peephole: bool; T: type in [half,float]",
     lstm_cell_gradient, transcendental,
     "Carries a gradient back through LSTMBlockCell."},
    {"BlockLSTM(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: "
     "T) -> (i: T, cs: T, f: T, o: T, ci: T, co: T, h: T) | forget_bias: float = 1.0; cell_clip: "
     "float = 3.0; use_peephole: bool = false; T: type in [half,float]",
     lstm_sequence, lstm_sequence_products,
     "Steps of a long short-term memory over time."},
    {"BlockLSTMV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, "
     "b: T) -> (i: T, cs: T, f: T, o: T, ci: T, co: T, h: T) | cell_clip: float = 0.0; "
     "use_peephole: bool = false; T: type in [half,float]",
     lstm_sequence, lstm_sequence_products,
     "Steps of a long short-term memory over time."},
    {"BlockLSTMGrad(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, "
     "b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) -> (x_grad: T, "
     "cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: "
     "T) | use_peephole: bool; T: type in [half,float]",
     lstm_sequence_gradient, lstm_sequence_backward,
     "Carries a gradient back through BlockLSTM."},
    {"BlockLSTMGradV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: "
     "T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) -> (x_grad: T, "
     "cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: "
     "T) | use_peephole: bool; T: type in [half,float]",
     lstm_sequence_gradient, lstm_sequence_backward,
     "Carries a gradient back through BlockLSTMV2."},
    {"GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> (r: T, u: T, c: T, h: T) "
     "| T: type in [float]",
     gru_cell, gru_products,
     "A step of gated recurrent units."},
    {"GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: "
     "T) -> (d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T) | T: type in [float]",
     gru_cell_gradient, gru_backward,
     "Carries a gradient back through GRUBlockCell."},
    {"IsotonicRegression(input: T) -> (output: output_dtype, segments: int32) | T: type in [float,"
     "double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; output_dtype: type "
     "in [half,bfloat16,float,double] = float",
     isotonic, elementwise,
     "The falling sequence nearest to each row, and its level parts."},
};

}  // namespace

std::span<const OpRow> sequence_ops() { return kSequencesRows; }

}  // namespace emplace::stdops
