#pragma once
#include "backends/cpu/philox.h"
#include "kernel/random_stream.h"

namespace emplace::cpu {

// The generator of two seeds, and of key, counter and algorithm at three inputs from `first` on.
Philox philox_from_seed(const Tensor& seed);
Philox philox_from_key(KernelContext& c, int first);

}  // namespace emplace::cpu
