#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "emplace/emplace.h"
#include "kernel/kernel.h"
#include "op/op_def.h"

namespace emplace::testing {

// The whole catalogue, and ops that show what the executor does:
//   Meet(x: float) -> (y: float) | party: int = 2   waits until `party` of them run at once
//   WaitForCancel() -> ()                            suspends until its step is cancelled
//   CountCalls(x: float) -> (y: float)               counts how often it ran
//   FailWith() -> (y: float) | code: int             throws
const OpRegistry& session_ops();
const KernelRegistry& session_kernels();

// How often CountCalls ran.
std::atomic<int64_t>& calls();

}  // namespace emplace::testing
