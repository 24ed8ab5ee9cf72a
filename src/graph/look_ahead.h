#pragma once
#include <span>

#include "emplace/graph.h"

namespace emplace {

// In a loop over many nodes, at nodes[i]: asks for the memory of those to come. Such loops do
// little with each node and would otherwise wait for memory nearly all the time. The first is for
// loops that look at no more than a node's op and id.
inline void look_ahead_ids(std::span<Node* const> nodes, size_t i) {
  constexpr size_t kFar = 16;
  if (i + kFar < nodes.size()) __builtin_prefetch(nodes[i + kFar]);
}
inline void look_ahead(std::span<Node* const> nodes, size_t i) {
  constexpr size_t kFar = 12, kNear = 6, kLine = 64;
  if (i + kFar < nodes.size()) {
    const char* const node = reinterpret_cast<const char*>(nodes[i + kFar]);
    for (size_t at = 0; at < sizeof(Node); at += kLine) __builtin_prefetch(node + at);
  }
  if (i + kNear < nodes.size()) __builtin_prefetch(nodes[i + kNear]->attrs().data());
}

}  // namespace emplace
