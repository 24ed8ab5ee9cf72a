#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Work that is only waited for: a step without effects whose results nobody takes does nothing any
// more but pass on what it would have waited for. Gradients make them: TensorFlow has each of an
// operation's gradients wait for all of them, also for those of inputs that need none.
void drop_idle_work(StepGraph& g);

// Would nobody notice if this kernel did not run, but by its results?
bool has_no_effect(const StepGraph& g, const Step& s);

// Put into a graph to fail before something else goes wrong.
bool is_check(const Step& s);

}  // namespace emplace
