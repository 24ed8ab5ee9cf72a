#include "grad/joint.h"

#include <fmt/format.h>

#include <algorithm>

#include "grad/build.h"
#include "grad/part.h"

namespace emplace::grad {
namespace {

// Made anew rather than handed over.
bool is_made_anew(const Node& n) { return n.type() == "Const" || n.type() == "VarHandleOp"; }

bool asks_for_shape(const Node& n) {
  return n.type() == "Shape" || n.type() == "Size" || n.type() == "Rank";
}

}  // namespace

bool flows(DType t) { return is_number(t) || t == DType::kResource || t == DType::kVariant; }

Output zeros_for(Output x, DType dtype) {
  if (x.dtype() == DType::kVariant) return zeros_like(x);
  return zeros_of(x.dtype() == DType::kResource ? f("VariableShape", x) : shape_of(x), dtype);
}

std::vector<DType> types(std::span<const Output> values) {
  std::vector<DType> all;
  for (const Output& v : values) all.push_back(v.dtype());
  return all;
}

Joint::Joint(Graph& graph, const std::string& name) : graph_(graph) {
  const auto known = graph.find_function(name);
  if (!known) throw not_found(fmt::format("Function {} is not defined", name));
  f_ = function_from_def(function_def(*known), graph);
  for (const auto& other : graph.functions()) f_->body->add_function(other);
  for (Node* n : f_->inputs) arguments_.push_back(n->output());
  num_nodes_ = f_->body->num_nodes();
  gradients_.resize(arguments_.size());
}

bool Joint::passes_through(size_t i) const {
  Output o = results()[i];
  while (o.node->type() == "Identity" && o.node->control_inputs().empty()) o = o.node->inputs()[0];
  return o == arguments_[i];
}

std::unordered_set<size_t> Joint::reached(const std::unordered_set<size_t>& wanted) const {
  std::vector<Node*> stack;
  std::unordered_set<Node*> seen;
  const auto reach = [&](Output o) {
    if (flows(o.dtype()) && seen.insert(o.node).second) stack.push_back(o.node);
  };
  for (size_t i : wanted) reach(results()[i]);
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    for (const Output& in : n->inputs()) reach(in);
  }
  std::unordered_set<size_t> found;
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (seen.contains(arguments_[i].node)) found.insert(i);
  return found;
}

Output Joint::more(DType dtype, const Shape& shape) {
  return add_argument(*f_, dtype, shape);
}

Output Joint::seed(size_t i, DType dtype) {
  const Shape& shape = results()[i].shape();
  return more(dtype, is_number(results()[i].dtype()) ? shape : Shape::unknown());
}

void Joint::go_back(std::span<const size_t> from, std::span<const Output> seeds,
                    std::span<const size_t> by) {
  for (const auto& since : graph_.functions()) body().add_function(since);
  const Scope in_body = body().as_default();
  std::vector<Output> ys, xs;
  for (size_t i : from) ys.push_back(results()[i]);
  for (size_t i : by) xs.push_back(arguments_[i]);
  GradientOptions options;
  options.grad_ys.assign(seeds.begin(), seeds.end());
  const std::vector<Gradient> found = gradients_or_slices(ys, xs, options);
  for (size_t k = 0; k < by.size(); ++k) gradients_[by[k]] = found[k];
  for (const auto& made : body().functions()) graph_.add_function(made);
}

// Those of the copy and what they have come to read since; shapes of what they give are theirs too,
// so that no value is kept for its shape alone.
std::unordered_set<Node*> Joint::forward_nodes() const {
  const std::vector<Node*> all = body().nodes();
  const std::vector<Node*> order = in_order(std::span(all).first(num_nodes_), true);
  std::unordered_set<Node*> forward(order.begin(), order.end());
  for (Node* n : all)
    if (asks_for_shape(*n) && forward.contains(n->inputs()[0].node)) forward.insert(n);
  return forward;
}

std::vector<Output> Joint::taken(std::span<const Output> outputs) const {
  const std::unordered_set<Node*> forward = forward_nodes();
  std::vector<Output> found;
  std::vector<Node*> roots;
  const auto take = [&](Output o) {
    if (forward.contains(o.node) && !is_made_anew(*o.node) && std::ranges::find(found, o) == found.end())
      found.push_back(o);
  };
  for (const Output& o : outputs) take(o), roots.push_back(o.node);
  for (Node* n : in_order(roots, false, forward))
    if (!forward.contains(n))
      for (const Output& in : n->inputs()) take(in);
  return found;
}

std::string Joint::forward_part(std::span<const Output> arguments,
                                std::span<const Output> outputs) {
  return add_part(f_->name + "_forward", arguments, outputs, true);
}
std::string Joint::backward_part(std::span<const Output> arguments,
                                 std::span<const Output> outputs) {
  return add_part(f_->name + "_grad", arguments, outputs, false);
}

std::string Joint::add_part(const std::string& name, std::span<const Output> arguments,
                            std::span<const Output> outputs, bool whole) {
  PartOptions options;
  if (whole) {
    const std::vector<Node*> all = body().nodes();
    options.also.assign(all.begin(), all.begin() + static_cast<int64_t>(num_nodes_));
    options.control_outputs = f_->control_outputs;
    options.with_controls = true;
    options.stateful = f_->stateful;
    options.attrs = f_->attrs;
  }
  return emplace::grad::add_part(graph_, name, arguments, outputs, options);
}

}  // namespace emplace::grad
