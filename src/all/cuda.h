#pragma once
#include <string>
#include <vector>

#include "backends/cuda/backend.h"
#include "emplace/session.h"

namespace emplace {

// The CUDA backend, as far as this machine has one: a shared object that is opened on first use,
// beside this library (or where EMPLACE_CUDA_LIBRARY says). Nothing links CUDA.
struct CudaState {
  const cuda::Backend* backend = nullptr;
  std::vector<cuda::Card> cards;
  std::string problem;  // a driver is there, but this stands in the way
};
const CudaState& cuda_state();

// Do real cards serve a session with these options? Virtual GPUs that are asked for win.
bool uses_cards(const SessionOptions& options);

}  // namespace emplace
