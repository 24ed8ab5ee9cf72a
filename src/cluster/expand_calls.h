#pragma once
#include "emplace/graph.h"
#include "emplace/proto/graph.pb.h"

namespace emplace::cluster {

// Puts bodies in the place of calls (PartitionedCall and what calls by name, If, While) that mean more
// than one task: that take handles of resources, or whose functions name jobs or tasks. What is left
// can be cut by task. `graph` has the functions; nodes of `def` may take values of its nodes. A call's
// name stays that of an IdentityN of its results. False: there were none.
bool expand_calls(proto::GraphDef& def, const Graph& graph);

}  // namespace emplace::cluster
