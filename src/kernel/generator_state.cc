#include "kernel/generator_state.h"

#include <fmt/format.h>

namespace emplace {

void check_algorithm(int64_t algorithm) {
  if (algorithm == kThreeFry)
    throw unimplemented("Non-XLA devices don't support the ThreeFry algorithm.");
  if (algorithm != kPhiloxAlgorithm)
    throw invalid_argument(fmt::format("Unsupported algorithm id: {}", algorithm));
}

void check_generator_state(const Tensor& state, int64_t least) {
  if (state.dtype() != DType::kInt64)
    throw invalid_argument(fmt::format("dtype of RNG state variable must be int64, not {}",
                                       dtype_name(state.dtype())));
  if (state.rank() != 1)
    throw invalid_argument(
        fmt::format("RNG state must have one and only one dimension, not {}", state.rank()));
  if (state.num_elements() < least)
    throw invalid_argument(
        fmt::format("For the Philox algorithm, the size of state must be at least {}; got {}", least,
                    state.num_elements()));
}

}  // namespace emplace
