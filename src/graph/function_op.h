#pragma once
#include "emplace/graph.h"
#include "op/op_def.h"

namespace emplace {

// The definition of a function seen as an op: nodes may call it by its name.
OpDef op_of_function(const Function& f);

// Is the node a function's name used as an op? Such ops are their graph's, not the catalogue's.
bool calls_by_name(const Node& node);

// The same name, signature and body, node by node.
// InvalidArgument unless all that it names is there, and in its body. The body is not looked at.
void check_complete(const Function* f);

bool same_function(const Function& a, const Function& b);

}  // namespace emplace
