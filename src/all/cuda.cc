#include "all/cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "all/beside.h"

namespace emplace {
namespace {

#ifndef EMPLACE_BUILD_ID
#define EMPLACE_BUILD_ID "without CUDA"
#endif

CudaState open_backend() {
  CudaState state;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return state;  // no driver, no GPU, no word
  void* const library = open_beside("libemplace_cuda.so", "EMPLACE_CUDA_LIBRARY", state.problem);
  if (!library) return state;
  const auto entry = reinterpret_cast<cuda::Entry>(dlsym(library, cuda::kEntry));
  if (!entry) {
    state.problem = "libemplace_cuda.so has no entry";
    return state;
  }
  const cuda::Backend* const backend = entry();
  if (std::strcmp(backend->build, EMPLACE_BUILD_ID) != 0) {
    state.problem = "libemplace_cuda.so is of another build";
    return state;
  }
  try {
    state.cards = backend->cards();
    state.backend = backend;
    state.problem.clear();
  } catch (const Error& e) {
    state.problem = e.message();
  }
  return state;
}

}  // namespace

const CudaState& cuda_state() {
  static const CudaState* const state = new CudaState(open_backend());
  return *state;
}

namespace {

struct Lost {
  std::mutex mutex;
  std::string why;
};
Lost& lost() {
  static Lost* const state = new Lost;
  return *state;
}

}  // namespace

void lose_cards(std::string why) {
  const std::lock_guard lock(lost().mutex);
  if (lost().why.empty()) lost().why = std::move(why);
}

std::string why_cards_are_lost() {
  const std::lock_guard lock(lost().mutex);
  return lost().why;
}

bool uses_cards(const SessionOptions& options) {
  if (options.virtual_gpus >= 0) return false;
  if (const char* text = std::getenv("EMPLACE_VIRTUAL_GPUS"); text && *text) return false;
  return cuda_state().backend && !cuda_state().cards.empty() && why_cards_are_lost().empty();
}

}  // namespace emplace
