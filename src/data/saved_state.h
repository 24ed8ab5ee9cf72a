#pragma once
#include <string>
#include <vector>

#include "emplace/tensor.h"

namespace emplace::data {

// An iterator's state as bytes. Unimplemented for values that can't be written (a dataset in a
// window, a resource).
std::string state_bytes(const std::vector<Tensor>& state);
// DataLoss for bytes that are none.
std::vector<Tensor> state_from(std::string_view bytes);

}  // namespace emplace::data
