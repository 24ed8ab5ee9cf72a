#include "graph/node_store.h"

#include <algorithm>
#include <new>

#include "base/host_cache.h"

namespace emplace {
namespace {

constexpr size_t kFirst = 16;  // nodes of the first chunk; each next one has twice as many,
constexpr size_t kMost = (size_t{4} << 20) / sizeof(Node);  // up to these
static_assert(alignof(Node) <= kHostAlignment);

}  // namespace

NodeStore::~NodeStore() {
  for (const Chunk& c : chunks_) host_free(c.nodes, c.count * sizeof(Node));
}

NodeStore::Owned NodeStore::make() {
  const std::lock_guard lock(mutex_);
  void* place = unused_;
  if (place) {
    unused_ = unused_->next;
  } else {
    if (chunks_.empty() || used_ == chunks_.back().count) {
      const size_t count = chunks_.empty() ? kFirst : std::min(chunks_.back().count * 2, kMost);
      chunks_.reserve(chunks_.size() + 1);  // or what is taken next would be lost
      chunks_.push_back({static_cast<Node*>(host_alloc(count * sizeof(Node))), count});
      used_ = 0;
    }
    place = chunks_.back().nodes + used_++;
  }
  return Owned(new (place) Node, {this});
}

void NodeStore::give_back(Node* node) noexcept {
  node->~Node();
  const std::lock_guard lock(mutex_);
  unused_ = new (node) Gap{unused_};
}

}  // namespace emplace
