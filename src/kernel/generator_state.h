#pragma once
#include "emplace/tensor.h"

namespace emplace {

// Of the algorithms only Philox is there.
void check_algorithm(int64_t algorithm);

// A generator's state in a variable: InvalidArgument if it is no vector of at least so many int64.
void check_generator_state(const Tensor& state, int64_t least);

}  // namespace emplace
