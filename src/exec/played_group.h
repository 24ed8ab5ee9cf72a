#pragma once
#include <vector>

#include "exec/step_graph.h"

namespace emplace {

// Joined work for a device that has no kernel for it: the group's own kernels, one after another.
// What lies between them gets a place like any result, behind the outputs of the last step.
Prepared play_group(StepGraph& g, const std::vector<int>& group, const std::vector<Port>& inputs);

// What the plan looks up of such a step.
const KernelRow& played_row();

}  // namespace emplace
