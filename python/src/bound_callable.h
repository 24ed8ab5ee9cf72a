#pragma once
#include "emplace/session.h"

namespace emplace::python {

// A prepared run and the session it belongs to, which Ctrl-C cancels.
struct BoundCallable {
  Callable run;
  Session* session;
};

// Runs without the GIL. Throws the engine's errors, or KeyboardInterrupt.
void run_bound(const BoundCallable& c, std::span<const Tensor> values,
               std::vector<Tensor>& fetched, const RunOptions& options, RunMetadata* metadata);

}  // namespace emplace::python
