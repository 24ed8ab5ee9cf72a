#pragma once
#include <cstdint>

namespace emplace::bench {

// GB/s of whole steps that bring `n` floats to the card, from it, or both at once; the host's memory is
// such as results of earlier steps lie in.
struct CopyRates {
  double in = 0, out = 0, both = 0;
};
CopyRates copy_rates(int64_t n);

}  // namespace emplace::bench
