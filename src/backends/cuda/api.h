#pragma once
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string_view>

namespace emplace::cuda {

// Throw when a call did not succeed: ResourceExhausted for want of memory, else Internal, with
// CUDA's own words and what was being done.
void check(cudaError_t result, std::string_view what);
void check(CUresult result, std::string_view what);
void check(cublasStatus_t result, std::string_view what);

// Makes `card` this thread's device. Cheap when it is already.
void use_card(int card);
// … where nobody can be told that it fails: what is called next on it will.
void try_card(int card) noexcept;

}  // namespace emplace::cuda
