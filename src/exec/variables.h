#pragma once
#include "exec/order.h"
#include "exec/step_graph.h"
#include "exec/users.h"

namespace emplace {

// Decides for every read of a variable whether it may share the variable's memory: only when all
// that use it are surely done before any write of the same plan. Other reads take a snapshot.
// Tells each write how many such handles are behind it (CallSite::own_aliases).
void plan_variables(StepGraph& g, const Order& order, const Users& users);

inline bool is_handle(const StepOutput& o) { return o.is_ref || o.dtype == DType::kResource; }

// Whether a step that takes a handle leaves the variable as it is.
bool only_looks(const Step& s);

}  // namespace emplace
