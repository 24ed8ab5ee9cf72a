#pragma once
#include "exec/joiner.h"
#include "exec/step_graph.h"

namespace emplace {

// Work that goes into a recording of a card.
bool on_card(const Step& s);

// Gives the group's last step the kernel for all of it: `row` of the backend, or, without one, the
// group's own kernels one after another. False: each stays by itself.
bool prepare_joined(StepGraph& g, const KernelRow* row, const std::vector<int>& group,
                    const std::vector<Port>& inputs, const AttrList& attrs);

// Each chain of elementwise steps on cards becomes one kernel. What others need of a chain too is
// computed again where that reads no more memory than taking it: gradients then read what the
// forward chain read, and what lies between is never written.
void join_chains(StepGraph& g, const KernelRow* row);

}  // namespace emplace
