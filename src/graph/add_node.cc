// Graph::add: a node is made, checked and inferred apart from the graph, then inserted, so that
// an error leaves the graph as it was.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "emplace/error.h"
#include "graph/graph_state.h"
#include "graph/known_value.h"
#include "graph/removed_ops.h"
#include "graph/source_line.h"
#include "op/attr_check.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

// The dtypes of a node's inputs; few nodes have more than sixteen.
class InputTypes {
 public:
  explicit InputTypes(std::span<const Output> inputs) : n_(inputs.size()) {
    if (n_ > small_.size()) large_.resize(n_);
    DType* out = large_.empty() ? small_.data() : large_.data();
    for (size_t i = 0; i < n_; ++i) out[i] = inputs[i].dtype();
  }
  std::span<const DType> get() const {
    return {large_.empty() ? small_.data() : large_.data(), n_};
  }

 private:
  size_t n_;
  std::array<DType, 16> small_;
  std::vector<DType> large_;
};

// Looks a node's input values up in the graph, when a shape rule asks.
class GraphValues : public ValueSource {
 public:
  explicit GraphValues(std::span<const Output> inputs) : inputs_(inputs) {}

  const Tensor* value(int i) override {
    const Output& in = inputs_[static_cast<size_t>(i)];
    if (const Tensor* t = constant(in)) return t;
    auto found = constant_value(in);
    if (!found) return nullptr;
    tensors_.push_back(std::move(*found));
    return &tensors_.back();
  }
  const Shape* value_as_shape(int i) override {
    const auto known = known_value(inputs_[static_cast<size_t>(i)]);
    if (!known || known->is_scalar) return nullptr;
    shapes_.push_back(known->as_shape());
    return &shapes_.back();
  }

 private:
  static const Tensor* constant(const Output& in) {
    const AttrValue* v = in.node->type() == "Const" ? in.node->attr("value") : nullptr;
    return v != nullptr ? &v->as<Tensor>() : nullptr;
  }

  std::span<const Output> inputs_;
  std::deque<Tensor> tensors_;
  std::deque<Shape> shapes_;
};

std::vector<ShapeContext::Input> shape_inputs(const Node& node) {
  std::vector<ShapeContext::Input> out(node.inputs().size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Output& in = node.inputs()[i];
    out[i].shape = in.shape();
    // Rules take it that a value is as long as its shape says: of what is known only by its value
    // (the axes of BroadcastGradientArgs) they see that value's shape.
    if (const KnownValue* known = in.node->known_value(in.index))
      if (known->dtype != DType::kInvalid)
        out[i].shape = known->is_scalar ? Shape{} : Shape{static_cast<int64_t>(known->values.size())};
    out[i].dtype = in.dtype();
    if (const HandleInfo* h = in.node->handle(in.index)) out[i].handle = *h;
  }
  return out;
}

bool has_handle(const ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    if (c.output_handle(i).dtype != DType::kInvalid) return true;
  return false;
}

// Nodes whose ref outputs `node` writes: it must live where they do.
std::vector<Node*> written_nodes(const Node& node) {
  std::vector<Node*> out;
  if (std::ranges::none_of(node.op().inputs, &ArgDef::is_ref)) return out;
  const std::vector<bool> refs = input_refs(node.op(), node.attrs());
  for (size_t i = 0; i < refs.size(); ++i)
    if (refs[i]) out.push_back(node.inputs()[i].node);
  return out;
}

}  // namespace

const OpDef& Graph::State::op_for(std::string_view type) const {
  if (const OpDef* op = graph.ops_.find(type)) return *op;
  const auto it = function_ops.find(std::string(type));
  return it != function_ops.end() ? *it->second : graph.ops_.get(type);
}

void Graph::State::check_owned(const Node* node, std::string_view what) const {
  if (node == nullptr) throw invalid_argument(fmt::format("{} is null", what));
  if (&node->graph() != &graph)
    throw invalid_argument(
        fmt::format("{} '{}' is not an element of this graph.", what, node->name()));
}

void Graph::State::check_inputs(const OpDef& op, std::span<const Output> inputs) const {
  for (const Output& in : inputs) {
    if (in.node == nullptr || &in.node->graph() != &graph)
      check_owned(in.node, fmt::format("An input of '{}': node", op.name));
    if (in.index < 0 || in.index >= in.node->num_outputs())
      throw invalid_argument(fmt::format("Input of '{}': node '{}' has {} outputs, asked for {}",
                                         op.name, in.node->name(), in.node->num_outputs(),
                                         in.index));
  }
}

void Graph::State::check_refs(const Node& node) const {
  if (std::ranges::none_of(node.op().inputs, &ArgDef::is_ref)) return;
  for (size_t arg = 0; arg < node.op().inputs.size(); ++arg) {
    const ArgDef& def = node.op().inputs[arg];
    if (!def.is_ref) continue;
    const ArgRange range = input_range(node.op(), node.attrs(), static_cast<int>(arg));
    for (int i = range.begin; i < range.end; ++i)
      if (!node.inputs_[static_cast<size_t>(i)].is_ref())
        throw invalid_argument(fmt::format("'{}' Op requires that input '{}' be a mutable tensor "
                                           "(e.g.: a tf.Variable)",
                                           node.type(), def.name));
  }
}

NodeStore::Owned Graph::State::make(const OpDef& op, std::span<const Output> inputs,
                                    AttrList attrs, const NodeOptions& options) {
  NodeStore::Owned node = store.make();
  node->op_ = &op;
  node->graph_ = &graph;
  node->set_inputs(inputs);
  for (const auto& [attr, value] : attrs)
    if (value.is<Tensor>() && value.as<Tensor>().device() != nullptr)
      throw failed_precondition(fmt::format(
          "Attribute '{}' is a tensor in a device's memory: a graph holds tensors of the host", attr));
  node->attrs_ = complete_attrs(op, InputTypes(inputs).get(), std::move(attrs),
                                options.name.empty() ? std::string_view(op.name) : options.name,
                                options.raw ? UnknownAttrs::kKept : UnknownAttrs::kRefused);
  check_refs(*node);
  node->output_types_ = output_types(op, node->attrs_);
  if (std::ranges::any_of(op.outputs, &ArgDef::is_ref))
    node->output_refs_ = output_refs(op, node->attrs_);
  node->source_ = options.source;
  for (Node* before : options.control_inputs) {
    check_owned(before, "Control input");
    if (std::ranges::find(node->control_inputs_, before) == node->control_inputs_.end())
      node->control_inputs_.push_back(before);
  }
  return node;
}

void Graph::State::infer(Node& node) const {
  const int n = node.num_outputs();
  if (node.op_->shape_rule == nullptr) {
    node.output_shapes_.assign(static_cast<size_t>(n), Shape::unknown());
    node.known_values_ = fold(node);
    return;
  }
  const auto inputs = shape_inputs(node);
  GraphValues values(node.inputs_);
  ShapeContext c(*node.op_, node.attrs_, inputs, n, &values);
  try {
    node.op_->shape_rule(c);
  } catch (Error& e) {
    e.append(c.call_text(fmt::format("{{{{node {}}}}} = {}", node.name_, call_text(node))));
    throw;
  }
  for (int i = 0; i < n; ++i) node.output_shapes_.push_back(c.output(i));
  if (has_handle(c))
    for (int i = 0; i < n; ++i) node.output_handles_.push_back(c.output_handle(i));
  node.known_values_ = fold(node);
}

Graph::State::Naming Graph::State::name_for(const Node& node, const NodeOptions& options) const {
  std::string_view asked = options.name.empty() ? std::string_view(node.type()) : options.name;
  const bool closed = asked.size() > 1 && asked.ends_with('/');  // a scope's name, taken as it is
  if (closed) asked.remove_suffix(1);
  if (options.exact_name || closed) {
    if (names.find(asked) != nullptr)
      throw already_exists(fmt::format("Duplicate node name in graph: '{}'", asked));
    return {std::string(asked), std::string(asked)};
  }
  const ScopeStacks* scopes = find_scopes(number);
  std::string full;
  if (scopes != nullptr && !scopes->name.empty()) full = scopes->name + "/";
  full += asked;
  std::string given = names.unique(full);
  return {std::move(full), std::move(given)};
}

// The groups of all colocation blocks, the innermost partner's device: colocation wins over the
// device blocks.
void Graph::State::apply_colocation(Node& node, const ScopeStacks* scopes) const {
  std::vector<Node*> partners = scopes == nullptr ? std::vector<Node*>() : scopes->colocation;
  std::ranges::copy(written_nodes(node), std::back_inserter(partners));
  if (partners.empty()) return;
  std::vector<std::string> groups;
  bool has_device = false;
  for (auto partner = partners.rbegin(); partner != partners.rend(); ++partner) {
    std::ranges::copy((*partner)->colocation_groups(), std::back_inserter(groups));
    if (has_device || (*partner)->device_.empty()) continue;
    node.device_ = (*partner)->device_;
    has_device = true;
  }
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  emplace::set_attr(node.attrs_, "_class", std::move(groups));
}

// All but device functions, which are asked without the lock.
void Graph::State::apply_scopes(Node& node, const ScopeStacks* scopes) const {
  if (scopes != nullptr) {
    add_control_inputs(scopes->controls, node.inputs_, node.control_inputs_);
    if (const std::string* device = settled_device(scopes->devices)) node.device_ = *device;
  }
}

Node* Graph::State::insert(NodeStore::Owned made, std::string_view asked_name) {
  Node* node = made.get();
  node->id_ = static_cast<int>(nodes.size());
  nodes.push_back(std::move(made));
  names.take(asked_name, node);
  ++version;
  return node;
}

Node* Graph::State::add_raw(const OpDef& op, std::span<const Output> inputs, AttrList attrs,
                            const NodeOptions& options) {
  check_inputs(op, inputs);
  auto node = make(op, inputs, std::move(attrs), options);
  const Naming naming = name_for(*node, options);
  node->name_ = naming.given;
  infer(*node);
  node->device_ = options.device;
  return insert(std::move(node), naming.asked);
}

Node* Graph::add(std::string_view type, std::span<const Output> inputs, AttrList attrs,
                 NodeOptions options, const std::source_location& where) {
  try {
    std::unique_lock lock(mutex_);
    State& s = *state_;
    s.check_open();
    const OpDef& op = s.op_for(type);
    if (options.raw) {
      Node* made = s.add_raw(op, inputs, std::move(attrs), options);
      if (made->source_.empty()) made->source_ = source_line(where);
      return made;
    }
    check_not_removed(op.name, s.versions.producer);
    s.check_inputs(op, inputs);
    auto node = s.make(op, inputs, std::move(attrs), options);
    if (node->source_.empty()) node->source_ = source_line(where);
    State::Naming naming = s.name_for(*node, options);
    node->name_ = naming.given;
    if (!options.name.empty()) check_node_name(node->name_);
    s.infer(*node);
    ScopeStacks* scopes = find_scopes(s.number);
    const bool writes = !written_nodes(*node).empty();
    s.apply_scopes(*node, scopes);
    if (writes) {
      node->device_.clear();  // colocated with what it writes: device blocks don't count
    } else if (scopes != nullptr && settled_device(scopes->devices) == nullptr) {
      // The user's functions may open blocks and add nodes of their own.
      const std::vector<DeviceScope> devices = scopes->devices;
      lock.unlock();
      const auto show = [&](const std::string& device) { node->device_ = device; };
      node->device_ = device_from(devices, *node, show);
      lock.lock();
      scopes = find_scopes(s.number);
      s.check_open();
      naming = s.name_for(*node, options);  // somebody may have taken the name meanwhile
      node->name_ = naming.given;
    }
    s.apply_colocation(*node, scopes);
    Node* made = s.insert(std::move(node), naming.asked);
    if (scopes != nullptr)
      for (ControlScope& scope : scopes->controls) scope.seen.insert(made);
    return made;
  } catch (Error& e) {
    // By the name that it would have had: there may be a node of the one that was asked for.
    const std::string_view asked = options.name.empty() ? type : std::string_view(options.name);
    const bool as_it_is = options.raw || options.exact_name || asked.ends_with('/');
    e.at_node(as_it_is ? std::string(asked) : unique_name(asked, false), type);
    e.from_source(options.source.empty() ? source_line(where) : options.source);
    throw;
  }
}

}  // namespace emplace
