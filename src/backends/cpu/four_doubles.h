#pragma once

namespace emplace::cpu {

// Four doubles in memory, wherever they lie, as a vector.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
[[gnu::always_inline]] inline Four& four(double* p) { return *reinterpret_cast<Four*>(p); }
[[gnu::always_inline]] inline const Four& four(const double* p) {
  return *reinterpret_cast<const Four*>(p);
}

}  // namespace emplace::cpu
