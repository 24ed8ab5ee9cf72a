#pragma once
#include <string>
#include <vector>

#include "backends/cpu/golden_testutil.h"

namespace emplace::testing {

// Larger tensors take time and show nothing new.
constexpr int64_t kMaxElements = 1500;

using GoldenCall = cpu::GoldenCase;

// The calls of an operation in tests/golden that succeed and are small, or in calls.txt here, which
// has what TensorFlow knows but does not run; null where there are none.
// An operation on references has those of its twin on resources. The first call reads the files.
const std::vector<GoldenCall>* golden_calls(const std::string& op);

}  // namespace emplace::testing
