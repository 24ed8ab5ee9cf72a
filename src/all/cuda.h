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

// What the cards of this process failed with, if they did: nothing can be run on them until it ends, and
// sessions made from now on have none.
void lose_cards(std::string why);
std::string why_cards_are_lost();

// Do real cards serve a session with these options? Virtual GPUs that are asked for win.
bool uses_cards(const SessionOptions& options);

// A card's kernels: its own, and the CPU's where all arguments lie in host memory or only the device
// is asked to copy. With the table's dtypes and host arguments.
std::vector<KernelRow> card_rows(const KernelRegistry& cpu, std::vector<KernelRow> own);
// A virtual GPU's: the CPU's, as far as a real GPU has them.
std::vector<KernelRow> virtual_gpu_rows(const KernelRegistry& cpu);

}  // namespace emplace
