#include <fmt/format.h>

#include <algorithm>

#include "emplace/graph.h"
#include "graph/graph_state.h"
#include "graph/known_value.h"
#include "op/shape_context.h"

namespace emplace {

Node::Node() = default;
Node::~Node() = default;

void Node::set_inputs(std::span<const Output> inputs) {
  const bool few = inputs.size() <= std::size(few_inputs_);
  auto many = few ? nullptr : std::make_unique<Output[]>(inputs.size());
  Output* const to = few ? few_inputs_ : many.get();
  std::ranges::copy(inputs, to);
  inputs_ = {to, inputs.size()};
  many_inputs_ = std::move(many);
}

DType Output::dtype() const { return node->output_type(index); }
bool Output::is_ref() const { return node->output_is_ref(index); }
const Shape& Output::shape() const { return node->output_shape(index); }
std::string Output::name() const { return fmt::format("{}:{}", node->name(), index); }
Graph& Output::graph() const { return node->graph(); }

const std::string& Node::type() const { return op_->name; }

const HandleInfo* Node::handle(int i) const {
  return output_handles_.empty() ? nullptr : &output_handles_[static_cast<size_t>(i)];
}

const KnownValue* Node::known_value(int i) const {
  if (known_values_.empty()) return nullptr;
  const KnownValue& v = known_values_[static_cast<size_t>(i)];
  return v.dtype == DType::kInvalid ? nullptr : &v;
}

std::vector<std::string> Node::colocation_groups() const {
  std::vector<std::string> groups;
  const AttrValue* value = attr("_class");
  if (value != nullptr && value->is<std::vector<std::string>>())
    for (const std::string& entry : value->as<std::vector<std::string>>())
      if (entry.starts_with("loc:@")) groups.push_back(entry);
  if (groups.empty()) groups.push_back("loc:@" + name_);
  return groups;
}

std::string input_text(const Output& in) {
  return in.index == 0 ? in.node->name() : fmt::format("{}:{}", in.node->name(), in.index);
}

std::string call_text(const Node& node) {
  std::vector<std::string> attrs, inputs;
  for (const auto& [name, value] : node.attrs()) attrs.push_back(name + "=" + value.str());
  if (!node.device().empty()) attrs.push_back(fmt::format("_device=\"{}\"", node.device()));
  for (const Output& in : node.inputs()) inputs.push_back(input_text(in));
  for (const Node* before : node.control_inputs()) inputs.push_back("^" + before->name());
  return fmt::format("{}[{}]({})", node.type(), fmt::join(attrs, ", "), fmt::join(inputs, ", "));
}

std::string Node::definition() const { return name_ + " = " + call_text(*this); }

}  // namespace emplace
