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

namespace {

cudaError_t choose_card(int card) noexcept {
  static thread_local int current = -1;
  if (current == card) return cudaSuccess;
  const cudaError_t result = cudaSetDevice(card);
  if (result == cudaSuccess) current = card;
  return result;
}

}  // namespace

void use_card(int card) {
  if (const cudaError_t result = choose_card(card); result != cudaSuccess) [[unlikely]]
    check(result, fmt::format("choosing card {}", card));
}

void try_card(int card) noexcept { (void)choose_card(card); }

}  // namespace emplace::cuda
