#pragma once
#include <optional>

#include "backends/cpu/philox.h"
#include "kernel/generator_state.h"
#include "kernel/random_stream.h"

namespace emplace::cpu {

// The generator of two seeds, and of key, counter and algorithm at three inputs from `first` on.
Philox philox_from_seed(const Tensor& seed);
Philox philox_from_key(KernelContext& c, int first);
// That of the variable at input 0, which is moved on: 128 bits of counter, then the key. Without an
// algorithm the variable begins with its number.
Philox philox_from_variable(KernelContext& c, std::optional<int64_t> algorithm, uint64_t blocks);

}  // namespace emplace::cpu
