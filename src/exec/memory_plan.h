#pragma once
#include <cstdint>
#include <vector>

#include "exec/order.h"
#include "exec/step_graph.h"
#include "exec/users.h"

namespace emplace {

// Where each slot's bytes lie: at an offset of its space's arena, or nowhere yet (fed, constant,
// or of a shape known only when it is made).
struct MemoryPlan {
  static constexpr int64_t kNone = -1;
  std::vector<int64_t> offset;        // by slot
  std::vector<int64_t> arena_bytes;   // by space
  std::vector<int> largest_slot;      // by space: for out-of-memory reports; -1 none
  std::vector<bool> elided;           // by step: forwards memory that is already in place
};

// Two values share memory only when all that use the first are surely done before the second is
// made, so the plan holds however the steps are run in parallel.
MemoryPlan plan_memory(const StepGraph& g, const Order& order, const Users& users);

}  // namespace emplace
