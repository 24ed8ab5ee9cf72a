#pragma once
#include "backends/cpu/loops.h"

namespace emplace::cpu {

// Functions whose loops are vectorised by hand.
enum class Fn {
  kExp, kExpm1, kLog, kLog1p, kSin, kCos, kSinh, kTanh, kSigmoid, kAsin, kAcos, kAtan, kAsinh,
  kAcosh, kAtanh, kSqrt, kRsqrt, kErf,
};

// The loop for float or double; null where there is none (another dtype, a build without Highway).
// A lane's result depends on its own value only, so cutting the work elsewhere changes no bit.
UnaryLoop simd_loop(Fn fn, DType dtype);

}  // namespace emplace::cpu
