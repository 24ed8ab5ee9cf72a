#pragma once
#include "emplace/session.h"

namespace emplace::python {

// Runs without the GIL; Ctrl-C ends the step.
void run_callable(const Callable& c, std::span<const Tensor> values, std::vector<Tensor>& fetched,
                  const RunOptions& options, RunMetadata* metadata);

}  // namespace emplace::python
