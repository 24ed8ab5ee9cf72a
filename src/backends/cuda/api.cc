#include "backends/cuda/api.h"

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace::cuda {
namespace {

[[noreturn]] void fail(bool memory, std::string_view what, std::string_view why) {
  const std::string text = fmt::format("CUDA: {}: {}", what, why);
  if (memory) throw resource_exhausted(text);
  throw internal_error(text);
}

}  // namespace

void check(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) [[likely]] return;
  (void)cudaGetLastError();  // forget it, unless the context is lost
  fail(result == cudaErrorMemoryAllocation, what, cudaGetErrorString(result));
}

void check(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) [[likely]] return;
  const char* why = nullptr;
  cuGetErrorString(result, &why);
  fail(result == CUDA_ERROR_OUT_OF_MEMORY, what, why ? why : "unknown error");
}

void check(cublasStatus_t result, std::string_view what) {
  if (result == CUBLAS_STATUS_SUCCESS) [[likely]] return;
  fail(result == CUBLAS_STATUS_ALLOC_FAILED, what, cublasLtGetStatusString(result));
}

void use_card(int card) {
  static thread_local int current = -1;
  if (current == card) return;
  check(cudaSetDevice(card), fmt::format("choosing card {}", card));
  current = card;
}

}  // namespace emplace::cuda
