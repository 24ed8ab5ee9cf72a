#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Has each device with memory of its own compute one thing after another, in the order of the
// steps, so that what is there for a while only lies where the last such thing lay. For steps that
// have no room otherwise: nothing of one device runs side by side any more. Steps with branches or
// loops stay as they are.
void compute_in_turns(StepGraph& g);

}  // namespace emplace
