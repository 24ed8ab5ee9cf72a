#include "kernel/recurrent_checks.h"

#include <fmt/format.h>

namespace emplace {
namespace {

// From input `first` on: x, whose sizes are known, and all others.
LstmSizes with_weights(KernelContext& c, int first, LstmSizes s) {
  const Tensor& cell = c.input(first + 1);
  if (cell.rank() != 2 || cell.dim(0) != s.batch)
    throw invalid_argument(fmt::format("cs_prev.dims(0) != batch_size: {} vs. {}",
                                       cell.shape().str(), s.batch));
  const int64_t n = s.cells = cell.dim(1);
  expect_sizes(c, first + 2, "h_prev", {s.batch, n});
  expect_sizes(c, first + 3, "w", {s.inputs + n, 4 * n});
  for (int k = 4; k < 7; ++k) expect_sizes(c, first + k, "a peephole's weight", {n});
  expect_sizes(c, first + 7, "b", {4 * n});
  return s;
}

}  // namespace

void expect_sizes(KernelContext& c, int i, std::string_view what,
                  std::initializer_list<int64_t> dims) {
  const Shape wanted{dims};
  if (!(c.input(i).shape() == wanted))
    throw invalid_argument(fmt::format("{} must have shape {}, got {}", what, wanted.str(),
                                       c.input(i).shape().str()));
}

LstmSizes cell_sizes(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() != 2) throw invalid_argument("x must be a matrix, not " + x.shape().str());
  return with_weights(c, 0, {1, 1, x.dim(0), x.dim(1)});
}

LstmSizes sequence_sizes(KernelContext& c) {
  if (c.input(0).num_elements() != 1) throw invalid_argument("seq_len_max must be a scalar");
  const Tensor& x = c.input(1);
  if (x.rank() != 3) throw invalid_argument("x must be 3 dimensional, got " + x.shape().str());
  const int64_t n = *c.input(0).data<int64_t>();
  if (n < 0 || n > x.dim(0))
    throw invalid_argument(fmt::format("seq_len_max must be in [0, {}], got {}", x.dim(0), n));
  return with_weights(c, 1, {x.dim(0), n, x.dim(1), x.dim(2)});
}

LstmSizes gru_sizes(KernelContext& c) {
  if (c.input(0).rank() != 2 || c.input(1).rank() != 2)
    throw invalid_argument("x and h_prev must be matrices");
  const int64_t batch = c.input(0).dim(0), inputs = c.input(0).dim(1), n = c.input(1).dim(1);
  expect_sizes(c, 1, "h_prev", {batch, n});
  expect_sizes(c, 2, "w_ru", {inputs + n, 2 * n});
  expect_sizes(c, 3, "w_c", {inputs + n, n});
  expect_sizes(c, 4, "b_ru", {2 * n});
  expect_sizes(c, 5, "b_c", {n});
  return {1, 1, batch, inputs, n};
}

}  // namespace emplace
