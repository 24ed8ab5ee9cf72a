#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Joins elementwise steps of one large shape, of which each feeds the next, into one step that goes
// through all of them block by block: what lies between stays in the cache. Wants shapes and kernels,
// so it comes after specialise. The joined steps stay in place, without work.
void fuse_elementwise(StepGraph& g);

}  // namespace emplace
