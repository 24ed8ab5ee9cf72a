#pragma once
#include "kernel/kernel.h"

namespace emplace {

// What recurrent cells ask of their inputs, on every device.

// Throws InvalidArgument unless input i has these sizes.
void expect_sizes(KernelContext& c, int i, std::string_view what, std::initializer_list<int64_t> dims);

struct LstmSizes {
  int64_t time = 1, steps = 1;  // of which so many are taken
  int64_t batch = 0, inputs = 0, cells = 0;
};
// Inputs: x, cs_prev, h_prev, w, wci, wcf, wco, b.
LstmSizes cell_sizes(KernelContext& c);
// … behind seq_len_max, with x of several steps.
LstmSizes sequence_sizes(KernelContext& c);

// x, h_prev, w_ru, w_c, b_ru, b_c.
LstmSizes gru_sizes(KernelContext& c);

}  // namespace emplace
