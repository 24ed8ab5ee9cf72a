#pragma once
#include "emplace/tensor.h"

namespace emplace {

// As TensorFlow numbers them; of the two only Philox is there.
constexpr int32_t kPhiloxAlgorithm = 1, kThreeFry = 2;
void check_algorithm(int64_t algorithm);

// A generator's state in a variable: InvalidArgument if it is no vector of at least so many int64.
void check_generator_state(const Tensor& state, int64_t least);

}  // namespace emplace
