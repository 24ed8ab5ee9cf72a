#pragma once
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/free_memory.h"

namespace emplace::cluster {

// What one process may make another take at once.
inline size_t most_message() {
  constexpr size_t kLeast = size_t{256} << 20, kMost = size_t{64} << 30;
  return std::clamp(free_memory().value_or(kMost) / 2, kLeast, kMost);
}

// Whether processes of one machine speak over a Unix socket and shared memory.
inline bool takes_local_ways() {
  const char* const text = std::getenv("EMPLACE_CLUSTER_LOCAL");
  return !text || std::string_view(text) != "0";
}

}  // namespace emplace::cluster
