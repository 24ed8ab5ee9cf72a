#include "grad/part.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

namespace emplace::grad {
namespace {

// Copies nodes of one graph into another.
class Copier {
 public:
  explicit Copier(Graph& to) : to_(to) {}
  void put(Output from, Output copy) { given_[{from.node, from.index}] = copy; }
  Output operator()(Output from) const {
    const auto given = given_.find({from.node, from.index});
    if (given != given_.end()) return given->second;
    if (Node* copy = find(from.node)) return copy->output(from.index);
    throw unimplemented("No gradient is defined for a value that crosses a loop")
        .at_node(from.node->name(), from.node->type());
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

// A name like `base` that no function has.
std::string free_name(const Graph& graph, const std::string& base) {
  std::string name = base;
  for (int i = 1; graph.find_function(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
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

std::vector<Node*> in_order(std::span<Node* const> roots, bool with_controls,
                            const std::unordered_set<Node*>& ends) {
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

Output add_argument(Function& f, DType dtype, const Shape& shape) {
  const int64_t index = std::ssize(f.inputs);
  NodeOptions options;
  options.name = fmt::format("arg_{}", index);
  Node* arg = f.body->add("_Arg", {}, {{"T", dtype}, {"index", index}}, std::move(options));
  f.body->set_shape(arg->output(), shape);
  f.inputs.push_back(arg);
  f.input_names.push_back(arg->name());
  return arg->output();
}

std::string add_part(Graph& graph, const std::string& base, std::span<const Output> arguments,
                     std::span<const Output> outputs, const PartOptions& options) {
  const auto part = new_function(graph, base);
  Copier copy(*part->body);
  std::unordered_set<Node*> ends;
  for (const Output& a : arguments) {
    copy.put(a, add_argument(*part, a.dtype(), a.shape()));
    ends.insert(a.node);
  }
  std::vector<Node*> roots = options.also;
  for (const Output& o : outputs) roots.push_back(o.node);
  for (Node* n : in_order(roots, options.with_controls, ends))
    if (!ends.contains(n) && n->type() != "_Arg") copy.copy(n);
  std::vector<Output> results;
  for (const Output& o : outputs) results.push_back(copy(o));
  set_results(*part, std::move(results));
  for (Node* n : options.control_outputs) part->control_outputs.push_back(copy.find(n));
  part->stateful = options.stateful;
  part->attrs = options.attrs;
  graph.add_function(part);
  return part->name;
}

std::string add_function(Graph& graph, const std::string& base, std::span<const DType> types,
                         const std::function<std::vector<Output>(std::span<const Output>)>& make) {
  const auto f = new_function(graph, base);
  const Scope in_body = f->body->as_default();
  std::vector<Output> arguments;
  for (DType t : types) arguments.push_back(add_argument(*f, t, Shape::unknown()));
  set_results(*f, make(arguments));
  graph.add_function(f);
  return f->name;
}

}  // namespace emplace::grad
