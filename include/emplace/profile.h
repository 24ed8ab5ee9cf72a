#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emplace/export.h"
#include "emplace/session.h"

namespace emplace {

// An operation or function that an eager engine of the process ran.
struct ProfiledCall {
  std::string name, device;
  int64_t start_ns = 0, end_ns = 0;  // since the epoch
  int64_t thread = 0;                // the caller's, as the system numbers them
  std::vector<NodeStats> nodes;      // of a function: since its start
};
// Notes them from now on, until stop_profile gives what was noted.
EMPLACE_API void start_profile();
EMPLACE_API std::vector<ProfiledCall> stop_profile();

}  // namespace emplace
