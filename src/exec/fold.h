#pragma once
#include <optional>
#include <vector>

#include "exec/step_graph.h"

namespace emplace {

// The outputs of a step as far as they follow from what is known while planning: sizes, ranks and
// small integer arithmetic on them. That is what makes most shapes static. Nothing when unknown.
std::vector<Tensor> fold_integers(const StepGraph& g, const Step& step, PlanEnvironment& env);

}  // namespace emplace
