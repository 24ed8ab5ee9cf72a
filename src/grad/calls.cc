// Gradients of calls and branches: calls of functions that compute the gradients of the bodies.
#include <fmt/format.h>

#include "grad/rows.h"

namespace emplace::grad {
namespace {

// What a call hands on: its arguments, then what came back to those results that are numbers.
std::vector<Output> arguments(const Forward& n, int first) {
  std::vector<Output> all(n.node.inputs().begin() + first, n.node.inputs().end());
  for (int i = 0; i < n.node.num_outputs(); ++i)
    if (is_number(n.node.output_type(i))) all.push_back(n.dy(i));
  return all;
}

Output argument(Graph& body, DType dtype, const Shape& shape, size_t index) {
  Node* arg = body.add("_Arg", {}, {{"T", dtype}, {"index", static_cast<int>(index)}});
  body.set_shape(arg->output(), shape);
  return arg->output();
}

// A function of `arguments` whose results are the gradients of those arguments of `name` that are
// numbers; it computes again what it needs of the body.
std::string backward_function(Graph& graph, const std::string& name) {
  const std::string back = name + "_grad";
  if (graph.find_function(back)) return back;
  const auto forward = graph.find_function(name);
  if (!forward) throw not_found(fmt::format("Function {} is not defined", name));
  const std::shared_ptr<Function> f = function_from_def(function_def(*forward), graph);
  f->name = back;
  for (const auto& known : graph.functions()) f->body->add_function(known);
  const Scope in_body = f->body->as_default();
  std::vector<Output> ys, xs;
  GradientOptions options;
  for (const Output& y : f->outputs) {
    if (!is_number(y.dtype())) continue;
    ys.push_back(y);
    options.grad_ys.push_back(argument(*f->body, y.dtype(), y.shape(), f->inputs.size()));
    f->inputs.push_back(options.grad_ys.back().node);
    f->input_names.push_back(fmt::format("grad_{}", ys.size()));
  }
  for (Node* arg : std::span(f->inputs).first(forward->inputs.size()))
    if (is_number(arg->output_type(0))) xs.push_back(arg->output());
  f->outputs = ys.empty() ? std::vector<Output>() : gradients(ys, xs, options);
  f->outputs.resize(xs.size());
  f->output_names.clear();
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!f->outputs[i]) f->outputs[i] = zeros_like(xs[i]);
    f->output_names.push_back(fmt::format("grad_of_{}", i));
  }
  for (const auto& made : f->body->functions()) graph.add_function(made);
  graph.add_function(f);
  return back;
}

// One output of `call` for each argument behind `first` that is a number.
std::vector<Output> spread(const Forward& n, int first, Node* call) {
  std::vector<Output> all(static_cast<size_t>(n.num_inputs()));
  int next = 0;
  for (int i = first; i < n.num_inputs(); ++i)
    if (is_number(n.x(i).dtype())) all[static_cast<size_t>(i)] = call->output(next++);
  return all;
}

AttrList types(const Forward& n, int first) {
  std::vector<DType> types;
  for (int i = first; i < n.num_inputs(); ++i)
    if (is_number(n.x(i).dtype())) types.push_back(n.x(i).dtype());
  return {{"Tout", std::move(types)}};
}

std::vector<Output> of_call(const Forward& n) {
  AttrList attrs = types(n, 0);
  const std::string& name = n.attr<FunctionName>("f").name;
  set_attr(attrs, "f", FunctionName{backward_function(n.node.graph(), name), {}});
  return spread(n, 0, op(n.node.type(), arguments(n, 0), std::move(attrs)).node);
}

std::vector<Output> of_if(const Forward& n) {
  AttrList attrs = types(n, 1);
  for (const char* branch : {"then_branch", "else_branch"}) {
    const std::string& name = n.attr<FunctionName>(branch).name;
    set_attr(attrs, branch, FunctionName{backward_function(n.node.graph(), name), {}});
  }
  std::vector<Output> inputs = arguments(n, 1);
  inputs.insert(inputs.begin(), n.x(0));
  return spread(n, 1, op(n.node.type(), inputs, std::move(attrs)).node);
}

}  // namespace

void add_calls(Rows& rows) {
  rows.add({"PartitionedCall", "StatefulPartitionedCall"}, of_call);
  rows.add({"If", "StatelessIf"}, of_if);
}

}  // namespace emplace::grad
