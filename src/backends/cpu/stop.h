#pragma once
#include "base/stop_scope.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// For loops that can take seconds, once a row or so: ends the kernel when its step has been
// cancelled or has run past its deadline.
inline void stop_if_cancelled(KernelContext& c) {
  if (c.cancellation().cancelled()) [[unlikely]]
    throw Error(Code::kCancelled, "the step was cancelled");
  StopScope::attend();
}

}  // namespace emplace::cpu
