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

// An element as compressed bytes, as CompressElement makes them, and back.
std::string packed_element(const std::vector<Tensor>& e);
std::vector<Tensor> unpacked_element(std::string_view bytes);
// … of the value that CompressElement made.
std::vector<Tensor> unpacked_element(const Tensor& t);

}  // namespace emplace::data
