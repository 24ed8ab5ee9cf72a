#pragma once
#include "backends/cpu/loops.h"

namespace emplace::cpu {

// Functions whose loops are vectorised by hand.
enum class Fn {
  kExp, kExpm1, kLog, kLog1p, kSin, kCos, kSinh, kTanh, kSigmoid, kAsin, kAcos, kAtan, kAsinh,
  kAcosh, kAtanh, kSqrt, kRsqrt, kErf, kElu, kSelu, kSoftplus,
};

// The loop for float or double; null where there is none (another dtype, a build without Highway).
// A lane's result depends on its own value only, so cutting the work elsewhere changes no bit.
UnaryLoop simd_loop(Fn fn, DType dtype);
BinaryLoop simd_atan2(DType dtype);

inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.7580993408473768599402175208123;  // scale * alpha

}  // namespace emplace::cpu
