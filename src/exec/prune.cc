#include "exec/prune.h"

#include <fmt/format.h>

#include "exec/loops.h"

namespace emplace {

bool is_fed_placeholder(const Node& node, const FeedIndex& feeds) {
  if (feeds.empty()) return false;
  const bool placeholder = node.type() == "Placeholder" || node.type() == "PlaceholderV2" ||
                           node.type() == "PlaceholderWithDefault";
  return placeholder && feeds.contains({const_cast<Node*>(&node), 0});
}

namespace {

enum class Mark : uint8_t { kNew, kOpen, kDone };

struct Visit {
  Node* node;
  size_t next = 0;  // data inputs first, then control inputs
};

class Walk {
 public:
  explicit Walk(const FeedIndex& feeds) : feeds_(feeds) {}

  void from(Node* root) {
    if (enter(root)) run();
    while (!later_.empty()) {
      Node* next = later_.back();
      later_.pop_back();
      if (mark(next) == Mark::kNew && enter(next)) run();
    }
  }
  std::vector<Node*> take() { return std::move(order_); }

 private:
  Mark& mark(const Node* n) {
    const auto id = static_cast<size_t>(n->id());
    if (id >= marks_.size()) marks_.resize(std::max(id + 1, marks_.size() * 2), Mark::kNew);
    return marks_[id];
  }

  bool enter(Node* n) {
    Mark& m = mark(n);
    if (m == Mark::kDone) return false;
    if (m == Mark::kOpen)
      throw invalid_argument(fmt::format("Graph is invalid, contains a cycle through node '{}'",
                                         n->name()))
          .at_node(n->name(), n->type())
          .from_source(n->source());
    m = Mark::kOpen;
    open_.push_back({n});
    for (const Output& in : n->inputs()) __builtin_prefetch(in.node);
    return true;
  }

  void run() {
    while (!open_.empty()) {
      Visit& v = open_.back();
      if (Node* next = next_input(v)) {
        enter(next);
        continue;
      }
      mark(v.node) = Mark::kDone;
      order_.push_back(v.node);
      open_.pop_back();
    }
  }

  Node* next_input(Visit& v) {
    const auto inputs = v.node->inputs();
    const auto controls = v.node->control_inputs();
    while (v.next < inputs.size() + controls.size()) {
      const size_t i = v.next++;
      if (i < inputs.size()) {
        if (!feeds_.empty() && feeds_.contains(inputs[i])) continue;
        // A loop's back edge: needed, but not before.
        if (is_merge(*v.node) && is_next_iteration(*inputs[i].node)) later_.push_back(inputs[i].node);
        else return inputs[i].node;
      } else if (Node* c = controls[i - inputs.size()]; !is_fed_placeholder(*c, feeds_)) {
        return c;
      }
    }
    return nullptr;
  }

  const FeedIndex& feeds_;
  std::vector<Mark> marks_;
  std::vector<Visit> open_;
  std::vector<Node*> order_;
  std::vector<Node*> later_;  // NextIterations that a Merge needs
};

}  // namespace

std::vector<Node*> needed_nodes(std::span<Node* const> roots, const FeedIndex& feeds) {
  Walk walk(feeds);
  for (Node* r : roots) walk.from(r);
  return walk.take();
}

}  // namespace emplace
