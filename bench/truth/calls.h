#pragma once
#include <vector>

#include "bench/common/rows.h"

namespace emplace::bench {

// Calls of heavy operations on /cpu:0: what their cost rules and the machine's rates say beside
// what they took.
std::vector<Row> estimated_calls();

}  // namespace emplace::bench
