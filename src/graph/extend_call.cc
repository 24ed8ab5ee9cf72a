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
  NodeOptions options;
  options.name = node->name_;
  auto made = make(node->op(), inputs, std::move(all), options);
  made->name_ = node->name_;
  infer(*made);
  const auto& types = made->output_types_;
  if (types.size() < node->output_types_.size() ||
      !std::equal(node->output_types_.begin(), node->output_types_.end(), types.begin()))
    throw invalid_argument(fmt::format("'{}' would lose an output", node->name()))
        .at_node(node->name(), node->type());
  node->set_inputs(inputs);
  node->attrs_ = std::move(made->attrs_);
  node->output_types_ = std::move(made->output_types_);
  node->output_shapes_ = std::move(made->output_shapes_);
  node->output_handles_ = std::move(made->output_handles_);
  node->known_values_ = std::move(made->known_values_);
  ++version;
}

}  // namespace emplace
