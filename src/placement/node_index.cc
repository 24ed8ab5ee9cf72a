#include "placement/node_index.h"

#include <algorithm>

#include "graph/look_ahead.h"

namespace emplace::placement {
namespace {

bool closes_loop(const Node* node) {
  return node->type() == "NextIteration" || node->type() == "RefNextIteration";
}

template <class F>
void for_each_source(const Node* node, F&& f) {
  for (const Output& in : node->inputs()) f(in.node);
  for (const Node* before : node->control_inputs()) f(before);
}

}  // namespace

NodeIndex::NodeIndex(std::span<Node* const> nodes) : nodes_(nodes) {
  int last = -1;
  bool dense = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    look_ahead_ids(nodes, i);
    last = std::max(last, nodes[i]->id());
    dense = dense && nodes[i]->id() == static_cast<int>(i);
  }
  if (dense) return;
  by_id_.assign(last + 1, -1);
  for (size_t i = 0; i < nodes.size(); ++i) by_id_[nodes[i]->id()] = static_cast<int>(i);
}

int NodeIndex::of(const Node* node) const {
  const size_t id = node->id();
  if (!by_id_.empty()) {
    const int at = id < by_id_.size() ? by_id_[id] : -1;
    return at >= 0 && nodes_[at] == node ? at : -1;
  }
  return id < nodes_.size() && nodes_[id] == node ? static_cast<int>(id) : -1;
}

Consumers::Consumers(std::span<Node* const> nodes, const NodeIndex& index)
    : begin_(nodes.size() + 2, 0) {
  // Counted two places ahead, so that filling leaves every start where it belongs.
  const auto each = [&](auto&& f) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      for_each_source(nodes[i], [&](const Node* source) {
        if (const int s = index.of(source); s >= 0) f(s, static_cast<int>(i));
      });
    }
  };
  each([&](int source, int) { ++begin_[source + 2]; });
  for (size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  readers_.resize(begin_.back());
  each([&](int source, int reader) { readers_[begin_[source + 1]++] = reader; });
}

std::vector<int> log_order(std::span<Node* const> nodes) {
  const int n = static_cast<int>(nodes.size());
  const NodeIndex index(nodes);
  const Consumers consumers(nodes, index);
  std::vector<int> waiting(n, 0), ready, order;
  std::vector<bool> loops(n);
  for (int i = 0; i < n; ++i) loops[i] = closes_loop(nodes[i]);
  for (int i = 0; i < n; ++i) {
    for_each_source(nodes[i], [&](const Node* source) {
      const int s = index.of(source);
      if (s >= 0 && !loops[s]) ++waiting[i];
    });
    if (waiting[i] == 0) ready.push_back(i);
  }
  order.reserve(n);
  while (!ready.empty()) {
    const int i = ready.back();
    ready.pop_back();
    order.push_back(i);
    if (loops[i]) continue;
    for (int reader : consumers[i]) {
      if (--waiting[reader] == 0) ready.push_back(reader);
    }
  }
  for (int i = 0; i < n; ++i) {  // what hangs in a cycle of another kind
    if (waiting[i] > 0) order.push_back(i);
  }
  return order;
}

}  // namespace emplace::placement
