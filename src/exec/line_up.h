#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Bounds the memory of large host steps. The planner reuses what steps surely left before others
// begin; where many may run in any order (the gradient of a filter, long after what it takes was
// made), it would have to keep nearly everything. So each large step waits for all large ones
// before it but the last few: for one more than the device has threads, so that nobody idles. Wants
// shapes, and steps that are joined. Small graphs, those with branches and those on cards stay as
// they are.
void line_up(StepGraph& g);

}  // namespace emplace
