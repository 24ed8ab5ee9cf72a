#pragma once
#include "exec/joiner.h"
#include "exec/step_graph.h"

namespace emplace {

// On cards a batch normalisation in training takes the relu behind it, with a tensor that is added
// in between, if there is one: what lies between is never written. Its gradient then takes the
// relu's, which asks what was normalised again for what it let through. Rows of the backend that
// hold both.
void join_norms(StepGraph& g, const KernelRow* forward, const KernelRow* back);

}  // namespace emplace
