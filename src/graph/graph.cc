#include "emplace/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>

#include "emplace/error.h"
#include "graph/function_op.h"
#include "graph/graph_state.h"
#include "graph/known_value.h"
#include "graph/read_lock.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

uint64_t next_graph_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

thread_local std::vector<Graph*> tls_defaults;

}  // namespace

Graph::State::State(Graph& g) : graph(g), number(next_graph_number()) {}

void Graph::State::check_open() const {
  if (finalized) throw failed_precondition("Graph is finalized and cannot be modified.");
}

Graph::Graph() : Graph(op_catalogue()) {}
Graph::Graph(const OpRegistry& ops) : ops_(ops), state_(std::make_unique<State>(*this)) {}
Graph::~Graph() = default;

Graph& Graph::current() {
  if (!tls_defaults.empty()) return *tls_defaults.back();
  static Graph* process_default = new Graph();  // outlives every static that may use it
  return *process_default;
}

Scope Graph::as_default() {
  tls_defaults.push_back(this);
  return Scope([this] {
    const auto last = std::find(tls_defaults.rbegin(), tls_defaults.rend(), this);
    if (last != tls_defaults.rend()) tls_defaults.erase(std::next(last).base());
  });
}

size_t Graph::num_nodes() const {
  const ReadLock lock(mutex_);
  return state_->nodes.size();
}

std::vector<Node*> Graph::nodes() const {
  const ReadLock lock(mutex_);
  std::vector<Node*> out;
  out.reserve(state_->nodes.size());
  for (const auto& node : state_->nodes) out.push_back(node.get());
  return out;
}

Node* Graph::find(std::string_view name) const {
  const ReadLock lock(mutex_);
  return state_->names.find(name);
}

Output Graph::tensor(std::string_view name) const {
  const size_t colon = name.find(':');
  int index = -1;
  if (colon != name.npos) {
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + colon + 1, end, index);
    if (parsed.ec != std::errc() || parsed.ptr != end) index = -1;
  }
  if (index < 0)
    throw invalid_argument(fmt::format("The name '{}' looks a like a Tensor name, but is not a "
                                       "valid one. Tensor names must be of the form "
                                       "\"<op_name>:<output_index>\".",
                                       name));
  const std::string_view op = name.substr(0, colon);
  Node* node = find(op);
  if (node == nullptr)
    throw not_found(fmt::format("The name '{}' refers to a Tensor which does not exist. The "
                                "operation, '{}', does not exist in the graph.",
                                name, op));
  if (index >= node->num_outputs())
    throw not_found(fmt::format("The name '{}' refers to a Tensor which does not exist. The "
                                "operation, '{}', exists but only has {} outputs.",
                                name, op, node->num_outputs()));
  return {node, index};
}

uint64_t Graph::version() const {
  const ReadLock lock(mutex_);
  return state_->version;
}

int64_t Graph::last_id() const { return static_cast<int64_t>(num_nodes()); }

void Graph::set_seed(uint64_t seed) {
  seed_ = seed;
  has_seed_ = true;
}

void Graph::set_device(Node* node, std::string device) {
  std::unique_lock lock(mutex_);
  state_->check_owned(node, "Node");
  node->device_ = std::move(device);
  ++state_->version;
}

void Graph::add_control_input(Node* node, Node* before) {
  std::unique_lock lock(mutex_);
  state_->check_owned(node, "Node");
  state_->check_owned(before, "Control input");
  if (std::ranges::find(node->control_inputs_, before) != node->control_inputs_.end()) return;
  node->control_inputs_.push_back(before);
  ++state_->version;
}

void Graph::set_attr(Node* node, std::string_view name, AttrValue value) {
  std::unique_lock lock(mutex_);
  state_->check_owned(node, "Node");
  blaming(*node, [&] { state_->change_attr(*node, name, std::move(value)); });
}

void Graph::State::replace_input(Node* node, int index, Output source) {
  if (index < 0 || index >= static_cast<int>(node->inputs_.size()))
    throw out_of_range(fmt::format("Node '{}' has {} inputs, asked to update {}", node->name(),
                                   node->inputs_.size(), index));
  check_inputs(*node->op_, {&source, 1});
  Output& input = node->inputs_[static_cast<size_t>(index)];
  if (source.dtype() != input.dtype())
    throw invalid_argument(fmt::format("Input {} of node {} was passed {} from {} incompatible "
                                       "with expected {}.",
                                       index, node->name(), dtype_proto_name(source.dtype()),
                                       source.name(), dtype_proto_name(input.dtype())));
  input = source;
  node->known_values_.clear();
  ++version;
}

void Graph::update_input(Node* node, int index, Output source) {
  std::unique_lock lock(mutex_);
  state_->check_owned(node, "Node");
  blaming(*node, [&] { state_->replace_input(node, index, source); });
}

void Graph::State::merge_shape(Output output, const Shape& shape) {
  Shape& known = output.node->output_shapes_[static_cast<size_t>(output.index)];
  Shape merged = ShapeContext::merge(known, shape);
  if (merged == known) return;
  known = std::move(merged);
  ++version;
}

void Graph::set_shape(Output output, const Shape& shape) {
  std::unique_lock lock(mutex_);
  state_->check_owned(output.node, "Node");
  blaming(*output.node, [&] {
    state_->check_inputs(output.node->op(), {&output, 1});
    state_->merge_shape(output, shape);
  });
}

void Graph::State::take_back(size_t num_nodes) {
  names.drop([&](const Node* node) { return static_cast<size_t>(node->id()) >= num_nodes; });
  nodes.resize(num_nodes);
}

GraphVersions Graph::versions() const {
  const ReadLock lock(mutex_);
  return state_->versions;
}

void Graph::finalize() {
  std::unique_lock lock(mutex_);
  state_->finalized = true;
}

bool Graph::finalized() const {
  const ReadLock lock(mutex_);
  return state_->finalized;
}

void Graph::State::insert_function(std::shared_ptr<const Function> f) {
  const auto it = function_index.find(f->name);
  if (it != function_index.end()) {
    if (same_function(*functions[it->second], *f)) return;
    throw invalid_argument(fmt::format("Cannot add function '{}' because a different function with "
                                       "the same name already exists.",
                                       f->name));
  }
  if (graph.ops_.find(f->name) != nullptr)
    throw invalid_argument(fmt::format(
        "Cannot add function '{}' because an op with the same name already exists.", f->name));
  function_ops.emplace(f->name, std::make_unique<OpDef>(op_of_function(*f)));
  function_index.emplace(f->name, functions.size());
  functions.push_back(std::move(f));
  ++version;
}

void Graph::add_function(std::shared_ptr<const Function> f) {
  check_complete(f.get());
  std::unique_lock lock(mutex_);
  state_->insert_function(std::move(f));
}

std::shared_ptr<const Function> Graph::find_function(std::string_view name) const {
  const ReadLock lock(mutex_);
  const auto it = state_->function_index.find(std::string(name));
  return it == state_->function_index.end() ? nullptr : state_->functions[it->second];
}

std::vector<std::shared_ptr<const Function>> Graph::functions() const {
  const ReadLock lock(mutex_);
  return state_->functions;
}

}  // namespace emplace
