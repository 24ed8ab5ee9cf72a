#pragma once
#include <span>
#include <vector>

#include "emplace/graph.h"

namespace emplace::grad {

// Raises the loops and branches of TensorFlow 1 (Enter, Merge, Switch, NextIteration, Exit) by which
// `outputs` are computed from `sources` to While and If, which have gradients. Whoever read an Exit
// or a Merge then reads what stands in its place; the old nodes stay where they are.
void raise_frames(std::span<const Output> outputs, std::span<const Output> sources);

// What stands in an output's place; itself if it was not raised.
Output raised(Output output);
std::vector<Output> raised(std::span<const Output> outputs);

}  // namespace emplace::grad
