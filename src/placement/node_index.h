#pragma once
#include <span>
#include <vector>

#include "emplace/graph.h"

namespace emplace::placement {

// Positions of nodes in a list, found by id without hashing.
class NodeIndex {
 public:
  explicit NodeIndex(std::span<Node* const> nodes);
  int of(const Node* node) const;  // -1 if not in the list

 private:
  std::span<Node* const> nodes_;
  std::vector<int> by_id_;  // empty where position and id are the same
};

// Who reads each node, through data and control edges, in order of the list; a reader that takes
// two outputs is there twice.
class Consumers {
 public:
  Consumers(std::span<Node* const> nodes, const NodeIndex& index);
  std::span<const int> operator[](int node) const {
    return std::span(readers_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

 private:
  std::vector<int> begin_, readers_;
};

// The order in which placements are logged, and in which the first error is looked for: nodes
// whose inputs are done wait on a stack, and the last one ready goes first. Inputs that close a
// loop (from NextIteration) are not waited for. Positions in `nodes`.
std::vector<int> log_order(std::span<Node* const> nodes);

}  // namespace emplace::placement
