#pragma once
#include <fmt/format.h>

#include "emplace/error.h"
#include "emplace/tensor.h"

namespace emplace::cpu {

// Of logits [steps, batch, classes]; checks how long each sequence of the batch is. `refuse` makes the
// error when those don't fit, which differs between losses and decoders.
struct CtcSizes {
  int64_t steps, batch, classes;
  CtcSizes(const Tensor& in, const Tensor& lengths, Error (*refuse)(std::string) = invalid_argument)
      : steps(0), batch(0), classes(0) {
    if (in.rank() != 3) throw invalid_argument("inputs is not a 3-Tensor");
    steps = in.dim(0), batch = in.dim(1), classes = in.dim(2);
    if (lengths.rank() != 1 || lengths.dim(0) != batch)
      throw refuse(
          fmt::format("len(sequence_length) != batch_size. len(sequence_length): {} "
                      "batch_size: {}",
                      lengths.num_elements(), batch));
    for (int64_t b = 0; b < batch; ++b)
      if (const int32_t n = lengths.data<int32_t>()[b]; n < 0 || n > steps)
        throw refuse(fmt::format("sequence_length({}) <= {}", b, steps));
    if (classes < 1) throw invalid_argument("num_classes must be positive");
  }
};

}  // namespace emplace::cpu
