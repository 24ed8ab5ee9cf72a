// The graph's invariants, checked after every pass in debug builds.
#include <fmt/format.h>

#include "emplace/error.h"
#include "graph/graph_state.h"
#include "graph/read_lock.h"

namespace emplace {
namespace {

[[noreturn]] void broken(const Node& node, std::string_view what) {
  throw internal_error(fmt::format("Graph is broken at node '{}' ({}): {}", node.name(),
                                   node.type(), what))
      .at_node(node.name(), node.type())
      .from_source(node.source());
}

// Loops close through a back edge from NextIteration, which does not count as one.
bool is_back_edge(const Node* from) { return from->type().ends_with("NextIteration"); }

}  // namespace

void Graph::State::verify_node(const Node& node) const {
  const auto owned = [&](const Node* other) {
    return other != nullptr && other->id() >= 0 &&
           static_cast<size_t>(other->id()) < nodes.size() &&
           nodes[static_cast<size_t>(other->id())].get() == other;
  };
  if (names.find(node.name()) != &node) broken(node, "its name is not its own");
  const std::vector<DType> types = input_types(node.op(), node.attrs());
  if (types.size() != node.inputs_.size()) broken(node, "wrong number of inputs");
  for (size_t i = 0; i < types.size(); ++i) {
    const Output& in = node.inputs_[i];
    if (!owned(in.node)) broken(node, fmt::format("input {} comes from another graph", i));
    if (in.index < 0 || in.index >= in.node->num_outputs())
      broken(node, fmt::format("input {} reads output {} of '{}'", i, in.index, in.node->name()));
    if (in.dtype() != types[i])
      broken(node, fmt::format("input {} is {}, expected {}", i, dtype_name(in.dtype()),
                               dtype_name(types[i])));
  }
  for (const Node* before : node.control_inputs_)
    if (!owned(before)) broken(node, "a control input comes from another graph");
  if (output_types(node.op(), node.attrs()) != node.output_types_ ||
      node.output_shapes_.size() != node.output_types_.size())
    broken(node, "its outputs do not match its definition");
}

// Takes nodes away whose inputs are gone; what stays is a cycle or behind one.
void Graph::State::verify_acyclic() const {
  std::vector<int> waiting(nodes.size());
  std::vector<std::vector<int>> readers(nodes.size());
  std::vector<int> ready;
  for (const auto& node : nodes) {
    const auto edge = [&](const Node* from) {
      if (is_back_edge(from)) return;
      readers[static_cast<size_t>(from->id())].push_back(node->id());
      ++waiting[static_cast<size_t>(node->id())];
    };
    for (const Output& in : node->inputs_) edge(in.node);
    for (const Node* before : node->control_inputs_) edge(before);
    if (waiting[static_cast<size_t>(node->id())] == 0) ready.push_back(node->id());
  }
  for (size_t at = 0; at < ready.size(); ++at)
    for (int reader : readers[static_cast<size_t>(ready[at])])
      if (--waiting[static_cast<size_t>(reader)] == 0) ready.push_back(reader);
  for (const auto& node : nodes)
    if (waiting[static_cast<size_t>(node->id())] > 0) broken(*node, "it depends on itself");
}

void Graph::verify() const {
  const ReadLock lock(mutex_);
  for (const auto& node : state_->nodes) state_->verify_node(*node);
  state_->verify_acyclic();
}

}  // namespace emplace
