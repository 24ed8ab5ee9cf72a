#pragma once
#include <utility>
#include <vector>

#include "emplace/dtype.h"

namespace emplace::cpu {

// Quantized dtypes, and what their numbers are stored as.
inline constexpr std::pair<DType, DType> kStored[] = {{DType::kQint8, DType::kInt8},
                                                      {DType::kQuint8, DType::kUint8},
                                                      {DType::kQint16, DType::kInt16},
                                                      {DType::kQuint16, DType::kUint16},
                                                      {DType::kQint32, DType::kInt32}};

inline std::vector<DType> quantized_types() {
  std::vector<DType> types;
  for (const auto& [quantized, plain] : kStored) types.push_back(quantized);
  return types;
}

// The dtype itself where it is none of them.
inline DType stored_as(DType dtype) {
  for (const auto& [quantized, plain] : kStored)
    if (dtype == quantized) return plain;
  return dtype;
}

}  // namespace emplace::cpu
