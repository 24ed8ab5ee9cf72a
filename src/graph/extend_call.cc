#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "emplace/eager.h"
#include "emplace/error.h"
#include "graph/graph_import.h"
#include "graph/known_value.h"
#include "op/shape_context.h"

namespace emplace {

void extend_call(Graph& graph, Node* node, std::span<const Output> more, AttrList attrs) {
  const std::unique_lock lock(graph.mutex());
  GraphImporter::state(graph).extend(node, more, std::move(attrs));
}

void Graph::State::extend(Node* node, std::span<const Output> more, AttrList attrs) {
  check_owned(node, "Node");
  check_inputs(node->op(), more);
  std::vector<Output> inputs(node->inputs_.begin(), node->inputs_.end());
  inputs.insert(inputs.end(), more.begin(), more.end());
  AttrList all = node->attrs_;
  for (auto& [name, value] : attrs) emplace::set_attr(all, name, std::move(value));
  const NodeStore::Owned made = remade(*node, inputs, std::move(all));
  const auto& types = made->output_types_;
  if (types.size() < node->output_types_.size() ||
      !std::equal(node->output_types_.begin(), node->output_types_.end(), types.begin()))
    throw invalid_argument(fmt::format("'{}' would lose an output", node->name()))
        .at_node(node->name(), node->type());
  node->set_inputs(inputs);
  node->output_types_ = std::move(made->output_types_);
  take_over(*node, *made);
}

NodeStore::Owned Graph::State::remade(const Node& node, std::span<const Output> inputs,
                                      AttrList attrs) {
  NodeOptions options;
  options.name = node.name_;
  options.raw = true;  // it may have been imported with attributes that its op does not know
  NodeStore::Owned made = make(node.op(), inputs, std::move(attrs), options);
  made->name_ = node.name_;
  infer(*made);
  return made;
}

void Graph::State::take_over(Node& node, Node& made) {
  node.attrs_ = std::move(made.attrs_);
  node.output_shapes_ = std::move(made.output_shapes_);
  node.output_handles_ = std::move(made.output_handles_);
  node.known_values_ = std::move(made.known_values_);
  ++version;
}

void Graph::State::change_attr(Node& node, std::string_view name, AttrValue value) {
  AttrList all = node.attrs_;
  emplace::set_attr(all, name, std::move(value));
  if (node.op().find_attr(name) == nullptr) {  // a remark, of which the op knows nothing
    node.attrs_ = std::move(all);
    ++version;
    return;
  }
  const NodeStore::Owned made = remade(node, node.inputs_, std::move(all));
  if (made->output_types_ != node.output_types_)
    throw invalid_argument(fmt::format("Attribute '{}' would change the types of the outputs of {}",
                                       name, node.name()));
  for (size_t i = 0; i < made->output_shapes_.size(); ++i)  // what set_shape told of it stays
    if (Shape& shape = made->output_shapes_[i]; shape.compatible_with(node.output_shapes_[i]))
      shape = ShapeContext::merge(shape, node.output_shapes_[i]);
  take_over(node, *made);
}

}  // namespace emplace
