#pragma once
#include "exec/step_graph.h"

namespace emplace {

// On cards a step of an optimizer waits for those who still use what was read of its variable
// before, if all of them stand before it: the plan then takes no copies of weights that a backward
// pass reads again. They would read the same without it.
void let_updates_wait(StepGraph& g);

}  // namespace emplace
