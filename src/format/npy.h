#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/tensor.h"

namespace emplace {

// NumPy's .npy, versions 1 to 3: numbers of either byte order, rows or columns first, `S` and `U`
// texts. Throws InvalidArgument that says what is wrong; memory is taken only for what is there.
Tensor parse_npy(std::string_view bytes);
// Version 1 (2 for a long header), little-endian, rows first.
std::string npy_bytes(const Tensor& tensor);

// An uncompressed zip of .npy members, as np.savez writes.
std::string npz_bytes(std::span<const std::pair<std::string, Tensor>> arrays);

}  // namespace emplace
