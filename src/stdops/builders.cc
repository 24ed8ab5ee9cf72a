#include "emplace/ops.h"

#include <algorithm>

namespace emplace {
namespace {

Graph& graph_of(std::span<const Output> inputs) {
  for (const Output& in : inputs)
    if (in) return in.graph();
  return Graph::current();  // of inputs that are all empty, `add` says so
}

NodeOptions named(std::string name) {
  NodeOptions o;
  o.name = std::move(name);
  return o;
}

}  // namespace

Output op(std::string_view type, std::span<const Output> inputs, AttrList attrs,
          std::string name, SourceLocation where) {
  Node* n = graph_of(inputs).add(type, inputs, std::move(attrs), named(std::move(name)), where);
  return n->num_outputs() ? n->output() : Output{n, -1};
}

Output constant(Tensor value, std::string name, SourceLocation where) {
  const DType dtype = value.dtype();
  return op("Const", {}, {{"dtype", dtype}, {"value", std::move(value)}}, std::move(name),
            where);
}

Output placeholder(DType dtype, Shape shape, std::string name, SourceLocation where) {
  return op("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}}, std::move(name),
            where);
}

VariableNodes variable(Tensor initial_value, std::string name, SourceLocation where) {
  Graph& g = Graph::current();
  const Scope scope = g.name_scope(name);
  std::string full = g.current_name_scope();
  full.pop_back();  // the variable bears the scope's own name
  const DType dtype = initial_value.dtype();
  const Shape shape = initial_value.shape();
  const Output initial = constant(std::move(initial_value), "initial_value", where);
  NodeOptions o = named(full);
  o.exact_name = true;
  Node* v = g.add("Variable", {}, {{"dtype", dtype}, {"shape", shape}}, std::move(o), where);
  const Scope with_variable = g.colocate_with(v);
  const Output assigned = op("Assign", {v->output(), initial}, {}, "Assign", where);
  const Output value = op("Identity", {v->output()}, {}, "read", where);
  return {v->output(), value, assigned.node};
}

Output assign(Output ref, Output value, std::string name, SourceLocation where) {
  return op("Assign", {ref, value}, {}, std::move(name), where);
}
Output assign_add(Output ref, Output value, std::string name, SourceLocation where) {
  return op("AssignAdd", {ref, value}, {}, std::move(name), where);
}
Output matmul(Output a, Output b, bool transpose_a, bool transpose_b, std::string name,
              SourceLocation where) {
  return op("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
            std::move(name), where);
}
Output add_n(std::span<const Output> inputs, std::string name, SourceLocation where) {
  return op("AddN", inputs, {}, std::move(name), where);
}
Output identity(Output x, std::string name, SourceLocation where) {
  return op("Identity", {x}, {}, std::move(name), where);
}

Output reduce_sum(Output x, std::vector<int32_t> axes, bool keep_dims, std::string name,
                  SourceLocation where) {
  const Output a = constant(Tensor::vector<int32_t>(axes), {}, where);
  return op("Sum", {x, a}, {{"keep_dims", keep_dims}}, std::move(name), where);
}
Output relu(Output x, std::string name, SourceLocation where) {
  return op("Relu", {x}, {}, std::move(name), where);
}
Output sigmoid(Output x, std::string name, SourceLocation where) {
  return op("Sigmoid", {x}, {}, std::move(name), where);
}
Output tanh(Output x, std::string name, SourceLocation where) {
  return op("Tanh", {x}, {}, std::move(name), where);
}

Node* no_op(std::string name, SourceLocation where) {
  return op("NoOp", {}, {}, std::move(name), where).node;
}

Node* group(std::span<Node* const> nodes, std::string name, SourceLocation where) {
  const auto first = std::ranges::find_if(nodes, [](const Node* n) { return n != nullptr; });
  Graph& g = first == nodes.end() ? Graph::current() : (*first)->graph();
  NodeOptions o = named(std::move(name));
  if (o.name.empty()) o.name = "group_deps";
  o.control_inputs.assign(nodes.begin(), nodes.end());
  return g.add("NoOp", {}, {}, std::move(o), where);
}

Output operator+(Operand a, Output b) { return op("AddV2", {a.output, b}, {}, "add", a.where); }
Output operator-(Operand a, Output b) { return op("Sub", {a.output, b}, {}, "sub", a.where); }
Output operator*(Operand a, Output b) { return op("Mul", {a.output, b}, {}, "mul", a.where); }
Output operator/(Operand a, Output b) {
  return op("RealDiv", {a.output, b}, {}, "truediv", a.where);
}
Output operator-(Operand a) { return op("Neg", {a.output}, {}, "Neg", a.where); }

}  // namespace emplace
