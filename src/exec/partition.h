#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/proto/graph.pb.h"
#include "exec/step_graph.h"

namespace emplace {

// Where a node was placed.
struct NodePlace {
  int task = 0;
  const std::string* device = nullptr;  // full name
};
using PlaceOf = std::function<NodePlace(const Node&)>;

// One task's part of a graph: a graph of its own, whose nodes ask for the devices that they were
// placed on, and what of the signature is the task's. Feeds and fetches come with their number.
struct GraphPart {
  int task = 0;
  proto::GraphDef graph;
  std::vector<std::pair<int, std::string>> feeds, fetches;  // tensors by name
  std::vector<std::string> targets;
};

// A value's way from task to task; its channel is its place among them.
struct Crossing {
  int from = 0, to = 0;
  std::string name;  // "MatMul:0", "^train"
};

struct Partition {
  std::vector<GraphPart> parts;  // of tasks that have something to do, by task
  std::vector<Crossing> crossings;
};

// Cuts what `signature` needs of a placed graph by task. Where an edge goes from one task to another
// the parts get a _Send and a _Recv; a task that takes values of a branch is told the predicate, and
// receives behind gates of its own. `hosts`: by task, the device that sends and receives run on.
// Throws Unimplemented or InvalidArgument, naming the node, where what can't be sent would have to
// be: references, resources and variants, and values between the rounds of a loop.
Partition partition(const Graph& graph, const Signature& signature, const PlaceOf& place,
                    std::span<const std::string> hosts);

}  // namespace emplace
