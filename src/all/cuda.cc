#include "all/cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace emplace {
namespace {

#ifndef EMPLACE_BUILD_ID
#define EMPLACE_BUILD_ID "without CUDA"
#endif

namespace fs = std::filesystem;

// Beside this code, or above it: a build tree has its Python part further down.
std::vector<std::string> candidates() {
  if (const char* path = std::getenv("EMPLACE_CUDA_LIBRARY"); path && *path) return {path};
  std::vector<std::string> paths;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_state), &here) && here.dli_fname) {
    std::error_code ignored;
    fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
    for (int up = 0; up < 3 && !folder.empty(); ++up, folder = folder.parent_path()) {
      const fs::path path = folder / "libemplace_cuda.so";
      if (fs::exists(path, ignored)) paths.push_back(path.string());
    }
  }
  paths.emplace_back("libemplace_cuda.so");
  return paths;
}

CudaState open_backend() {
  CudaState state;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return state;  // no driver, no GPU, no word
  void* library = nullptr;
  for (const std::string& path : candidates()) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) break;
    if (state.problem.empty()) state.problem = dlerror();
  }
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
