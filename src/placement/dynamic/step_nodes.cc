#include "placement/dynamic/step_nodes.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace emplace::placement {
namespace {

constexpr size_t kMaxSinks = 16;   // that are looked at: those at the end of the longest paths
constexpr double kSmallPart = 0.5;  // a run below this share of the heaviest one is none to plan for

class Walk {
 public:
  Walk(const PlacementRequest& request, const NodeIndex& index)
      : nodes_(request.nodes), index_(index), seen_(nodes_.size(), 0) {
    for (const Output& o : request.run.feeds) fed_.insert({o.node, o.index});
  }

  // What `roots` need, feeds left out.
  StepNodes needed(const std::vector<int>& roots) {
    std::ranges::fill(seen_, 0);
    StepNodes order;
    for (const int root : roots) visit(root, order);
    for (size_t k = 0; k < order.size(); ++k)  // what loops hand back, nobody after them needs
      for (const Output& in : nodes_[order[k]]->inputs())
        if (closes_loop(*in.node))
          if (const int at = index_.of(in.node); at >= 0) visit(at, order);
    return order;
  }

 private:
  struct Frame {
    int node;
    size_t next = 0;
  };

  void visit(int root, StepNodes& order) {
    if (seen_[root]) return;
    seen_[root] = 1;
    stack_.push_back({root});
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      const Node& node = *nodes_[top.node];
      const size_t data = node.inputs().size();
      if (top.next == data + node.control_inputs().size()) {
        order.push_back(top.node);
        stack_.pop_back();
        continue;
      }
      const size_t k = top.next++;
      const Node* before = k < data ? input(node.inputs()[k]) : node.control_inputs()[k - data];
      const int at = before ? index_.of(before) : -1;
      if (at < 0 || seen_[at] || closes_loop(*before)) continue;
      seen_[at] = 1;
      stack_.push_back({at});
    }
  }
  const Node* input(const Output& o) const {
    return fed_.contains({o.node, o.index}) ? nullptr : o.node;
  }

  std::span<Node* const> nodes_;
  const NodeIndex& index_;
  std::vector<char> seen_;
  std::vector<Frame> stack_;
  std::set<std::pair<const Node*, int>> fed_;
};

double total(const StepNodes& nodes, const std::vector<double>& weight) {
  return std::accumulate(nodes.begin(), nodes.end(), 0.0,
                         [&](double sum, int i) { return sum + weight[i]; });
}

// Nodes that nobody reads, those at the end of the longest paths.
std::vector<int> sinks(const PlacementRequest& request, const NodeIndex& index,
                       const std::vector<double>& weight) {
  std::vector<char> read(request.nodes.size(), 0);
  std::vector<double> path = weight;  // ids grow along the edges, but for what closes loops
  for (size_t i = 0; i < request.nodes.size(); ++i) {
    const auto look = [&](const Node* before) {
      const int at = index.of(before);
      if (at < 0) return;
      read[at] = 1;
      path[i] = std::max(path[i], path[at] + weight[i]);
    };
    for (const Output& in : request.nodes[i]->inputs()) look(in.node);
    for (const Node* before : request.nodes[i]->control_inputs()) look(before);
  }
  std::vector<int> ends;
  for (size_t i = 0; i < read.size(); ++i)
    if (!read[i]) ends.push_back(static_cast<int>(i));
  const size_t kept = std::min(ends.size(), kMaxSinks);
  std::ranges::partial_sort(ends, ends.begin() + static_cast<int>(kept),
                            [&](int a, int b) { return path[a] > path[b]; });
  ends.resize(kept);
  return ends;
}

std::vector<int> roots_of(const PlacementRequest& request, const NodeIndex& index) {
  std::vector<int> roots;
  const auto add = [&](const Node* n) {
    if (const int at = index.of(n); at >= 0) roots.push_back(at);
  };
  for (const Output& o : request.run.fetches) add(o.node);
  for (const Node* n : request.run.targets) add(n);
  return roots;
}

}  // namespace

StepNodes step_nodes(const PlacementRequest& request, const NodeIndex& index,
                     const std::vector<double>& weight) {
  Walk walk(request, index);
  StepNodes step = walk.needed(roots_of(request, index));
  const double asked = total(step, weight);
  const std::vector<int> ends = sinks(request, index, weight);
  std::vector<double> work;
  for (const int end : ends) work.push_back(total(walk.needed({end}), weight));
  const double most = work.empty() ? 0 : std::ranges::max(work);
  if (!step.empty() && asked >= kSmallPart * most) return step;
  std::vector<int> heavy;
  for (size_t k = 0; k < ends.size(); ++k)
    if (work[k] >= kSmallPart * most) heavy.push_back(ends[k]);
  return walk.needed(heavy);
}

}  // namespace emplace::placement
