#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Finds for each step the gates that must be open for it to run, as few as say it all: when a
// branch's gate is only alive in an outer branch, the inner one alone. A merge that can be dead for
// a reason other than gates stands for itself.
void find_gates(StepGraph& g);

// … for a value that lives by all of `steps`.
std::vector<int> gates_of(const StepGraph& g, std::span<const int> steps);

}  // namespace emplace
