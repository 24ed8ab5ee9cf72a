#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "emplace/graph.h"

namespace emplace {

// Where a graph's nodes lie: side by side, in huge pages once there are many. A walk over a large
// graph does little but wait for their memory.
class NodeStore {
 public:
  struct GiveBack {
    NodeStore* store = nullptr;
    void operator()(Node* node) const noexcept { store->give_back(node); }
  };
  using Owned = std::unique_ptr<Node, GiveBack>;  // goes before the store

  NodeStore() = default;
  ~NodeStore();
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;

  Owned make();

 private:
  struct Chunk {
    Node* nodes = nullptr;
    size_t count = 0;
  };
  struct Gap {
    Gap* next = nullptr;
  };
  void give_back(Node* node) noexcept;

  // Not the graph's lock: a node that a device function refuses goes without it.
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  size_t used_ = 0;         // of the last chunk
  Gap* unused_ = nullptr;   // given back
};

}  // namespace emplace
