#pragma once
#include "exec/step_graph.h"

namespace emplace {

// The call that runs a planned loop: round after round on the calling thread where its program runs
// in order, else suspended, each round following on the last one's end, so that no thread waits.
Prepared loop_kernel(LoopPlan& loop);

}  // namespace emplace
