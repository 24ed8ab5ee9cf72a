#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "emplace/graph.h"

namespace emplace {

struct OutputHash {
  size_t operator()(const Output& o) const {
    return std::hash<const void*>()(o.node) * 31 + static_cast<size_t>(o.index);
  }
};
using FeedIndex = std::unordered_map<Output, int, OutputHash>;

// The nodes that `roots` need, inputs before users (but for what a loop hands back to its Merges),
// given that `feeds` need nothing. Visits each edge once and does not recurse. Throws InvalidArgument naming a node on a cycle.
std::vector<Node*> needed_nodes(std::span<Node* const> roots, const FeedIndex& feeds);

// True when whoever waits for `node` waits for nothing, since it is a placeholder that is fed.
bool is_fed_placeholder(const Node& node, const FeedIndex& feeds);

}  // namespace emplace
