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
//   FailWith(x: float) -> (y: float) | code: int     throws
//   SetsNothing(x: float) -> (y: float)              forgets its output
//   Slow(x: float) -> (y: float) | us: int           hands x on after a while
//   CoreMask(x: float) -> (mask: int64)              the cores its thread may use, as bits
//   ThreadOf(x: float) -> (thread: int64)            the system's number of its thread
const OpRegistry& session_ops();
const KernelRegistry& session_kernels();

int number_waiting();  // at Meet

// How often CountCalls ran.
std::atomic<int64_t>& calls();

}  // namespace emplace::testing
