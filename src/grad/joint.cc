#include "grad/joint.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "grad/build.h"

namespace emplace::grad {
namespace {

// Nodes, every one behind what it reads (and waits for); `ends` are not gone beyond.
std::vector<Node*> in_order(std::span<Node* const> roots, bool with_controls,
                            const std::unordered_set<Node*>& ends = {}) {
  std::vector<Node*> order;
  std::unordered_set<Node*> seen;
  struct Visit {
    Node* node;
    size_t next = 0;
  };
  for (Node* root : roots) {
    if (!seen.insert(root).second) continue;
    std::vector<Visit> stack{{root}};
    while (!stack.empty()) {
      Visit& v = stack.back();
      const auto inputs = v.node->inputs();
      const auto controls = v.node->control_inputs().first(
          with_controls ? v.node->control_inputs().size() : 0);
      if (ends.contains(v.node) || v.next == inputs.size() + controls.size()) {
        order.push_back(v.node);
        stack.pop_back();
        continue;
      }
      const size_t i = v.next++;
      Node* before = i < inputs.size() ? inputs[i].node : controls[i - inputs.size()];
      if (seen.insert(before).second) stack.push_back({before});
    }
  }
  return order;
}

// Made anew rather than handed over.
bool is_made_anew(const Node& n) { return n.type() == "Const" || n.type() == "VarHandleOp"; }

bool asks_for_shape(const Node& n) {
  return n.type() == "Shape" || n.type() == "Size" || n.type() == "Rank";
}

// Copies nodes of one graph into another.
class Copier {
 public:
  explicit Copier(Graph& to) : to_(to) {}
  void put(Output from, Output copy) { given_[{from.node, from.index}] = copy; }
  Output operator()(Output from) const {
    const auto given = given_.find({from.node, from.index});
    return given != given_.end() ? given->second : copies_.at(from.node)->output(from.index);
  }
  Node* find(Node* n) const {
    const auto it = copies_.find(n);
    return it == copies_.end() ? nullptr : it->second;
  }
  void copy(Node* n) {
    if (n->type() == "NextIteration" || n->type() == "RefNextIteration")
      throw unimplemented("No gradient is defined for a loop of TensorFlow 1 in a function")
          .at_node(n->name(), n->type());
    std::vector<Output> inputs;
    for (const Output& in : n->inputs()) inputs.push_back((*this)(in));
    NodeOptions options;
    options.name = n->name();
    options.raw = true;
    options.device = n->device();
    options.source = n->source();
    for (Node* before : n->control_inputs())
      if (Node* there = find(before)) options.control_inputs.push_back(there);
    AttrList attrs = n->attrs();
    std::erase_if(attrs, [](const auto& a) { return a.first == "_class"; });
    Node* made = to_.add(n->type(), inputs, std::move(attrs), std::move(options));
    for (int i = 0; i < n->num_outputs(); ++i) to_.set_shape(made->output(i), n->output_shape(i));
    copies_[n] = made;
  }

 private:
  Graph& to_;
  std::map<std::pair<Node*, int>, Output> given_;
  std::unordered_map<Node*, Node*> copies_;
};

Node* add_argument(Function& f, DType dtype, const Shape& shape) {
  const int64_t index = std::ssize(f.inputs);
  NodeOptions options;
  options.name = fmt::format("arg_{}", index);
  Node* arg = f.body->add("_Arg", {}, {{"T", dtype}, {"index", index}}, std::move(options));
  f.body->set_shape(arg->output(), shape);
  f.inputs.push_back(arg);
  f.input_names.push_back(arg->name());
  return arg;
}

std::shared_ptr<Function> new_function(const Graph& graph, const std::string& base) {
  auto f = std::make_shared<Function>();
  f->name = free_name(graph, base);
  f->body = std::make_shared<Graph>(graph.ops());
  for (const auto& known : graph.functions()) f->body->add_function(known);
  return f;
}

void set_results(Function& f, std::vector<Output> outputs) {
  f.outputs = std::move(outputs);
  for (size_t i = 0; i < f.outputs.size(); ++i) f.output_names.push_back(fmt::format("result_{}", i));
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

std::string free_name(const Graph& graph, const std::string& base) {
  std::string name = base;
  for (int i = 1; graph.find_function(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string add_function(Graph& graph, const std::string& base, std::span<const DType> types,
                         const std::function<std::vector<Output>(std::span<const Output>)>& make) {
  const auto f = new_function(graph, base);
  const Scope in_body = f->body->as_default();
  std::vector<Output> arguments;
  for (DType t : types) arguments.push_back(add_argument(*f, t, Shape::unknown())->output());
  set_results(*f, make(arguments));
  graph.add_function(f);
  return f->name;
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
  return add_argument(*f_, dtype, shape)->output();
}

Output Joint::seed(size_t i, DType dtype) {
  const Shape& shape = results()[i].shape();
  return more(dtype, is_number(results()[i].dtype()) ? shape : Shape::unknown());
}

void Joint::go_back(std::span<const size_t> from, std::span<const Output> seeds,
                    std::span<const size_t> by) {
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

std::string Joint::add_part(std::string name, std::span<const Output> arguments,
                            std::span<const Output> outputs, bool whole) {
  const auto part = new_function(graph_, name);
  Copier copy(*part->body);
  std::unordered_set<Node*> ends;
  for (const Output& a : arguments) {
    copy.put(a, add_argument(*part, a.dtype(), a.shape())->output());
    ends.insert(a.node);
  }
  std::vector<Node*> roots;
  for (const Output& o : outputs) roots.push_back(o.node);
  if (whole) {
    ends.clear();
    const std::vector<Node*> all = body().nodes();
    roots.insert(roots.end(), all.begin(), all.begin() + static_cast<int64_t>(num_nodes_));
  }
  for (Node* n : in_order(roots, whole, ends))
    if (n->type() != "_Arg" && !ends.contains(n)) copy.copy(n);
  std::vector<Output> results;
  for (const Output& o : outputs) results.push_back(copy(o));
  set_results(*part, std::move(results));
  if (whole) {
    part->stateful = f_->stateful;
    part->attrs = f_->attrs;
    for (Node* n : f_->control_outputs) part->control_outputs.push_back(copy.find(n));
  }
  graph_.add_function(part);
  return part->name;
}

}  // namespace emplace::grad
