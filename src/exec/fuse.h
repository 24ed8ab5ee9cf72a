#pragma once
#include "exec/step_graph.h"

namespace emplace {

// Joins elementwise steps of one large shape, of which each feeds the next, into one step that goes
// through all of them block by block: what lies between stays in the cache. Wants shapes and kernels,
// so it comes after specialise. The joined steps stay in place, without work. `simple`: a backend's
// kernel for joined work, which may refuse; it goes through the steps tile by tile.
void fuse_elementwise(StepGraph& g, const KernelRow* simple = nullptr);

// Does each element of this op's result depend on the same element of its operands alone?
bool is_elementwise(const std::string& op);

// The same for cards, whose backend has kernels for joined work ("_Fused…" rows), since there every
// launch costs: elementwise steps of any size; products with the bias and relu behind them; steps of
// optimizers that take the same rule. EMPLACE_FUSION=0 leaves every step by itself.
void fuse_for_cards(StepGraph& g, PlanEnvironment& env);

}  // namespace emplace
