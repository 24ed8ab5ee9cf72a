#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Version 1's gradients are full of tuples (tf.tuple): a NoOp waits for all gradients of an operation, an
// Identity of each gradient for the NoOp. Nobody can see in which order values without effects are
// made, but each of these waits keeps elementwise work from being joined. Here the Identities stop
// waiting, and whoever took their values takes the gradients. What can be seen stays: effects and
// users of a variable's memory keep the order they had, and whatever came behind a check does still.
void release_tuples(StepGraph& g);

}  // namespace emplace
