#pragma once
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "emplace/graph.h"

// Builders for everyday operations, named as in Python. They add to the graph of their inputs, or
// to Graph::current() when they have none. Every other operation: `op("Name", {inputs}, {attrs})`.
// Nodes bear the line that calls the builder; a builder of your own hands on its caller's `where`.
namespace emplace {

using SourceLocation = std::source_location;

// The first output of a new node of any operation.
EMPLACE_API Output op(std::string_view type, std::span<const Output> inputs, AttrList attrs = {},
                      std::string name = {}, SourceLocation where = SourceLocation::current());
inline Output op(std::string_view type, std::initializer_list<Output> inputs, AttrList attrs = {},
                 std::string name = {}, SourceLocation where = SourceLocation::current()) {
  return op(type, std::span(inputs.begin(), inputs.size()), std::move(attrs), std::move(name),
            where);
}

EMPLACE_API Output constant(Tensor value, std::string name = {},
                            SourceLocation where = SourceLocation::current());
template <class T>
Output constant(std::initializer_list<T> values, Shape shape, std::string name = {},
                SourceLocation where = SourceLocation::current()) {
  return constant(Tensor::of<T>(values, std::move(shape)), std::move(name), where);
}
template <class T>
  requires(!std::is_same_v<T, Tensor>)
Output constant(T value, std::string name = {}, SourceLocation where = SourceLocation::current()) {
  return constant(Tensor::scalar<T>(value), std::move(name), where);
}

EMPLACE_API Output placeholder(DType dtype, Shape shape = Shape::unknown(), std::string name = {},
                               SourceLocation where = SourceLocation::current());

// A TensorFlow-1 variable: nodes `name`, `name/initial_value`, `name/Assign`, `name/read`.
struct EMPLACE_API VariableNodes {
  Output ref;         // `name`
  Output value;       // `name/read`
  Node* initializer;  // `name/Assign`
};
EMPLACE_API VariableNodes variable(Tensor initial_value, std::string name = "Variable",
                                   SourceLocation where = SourceLocation::current());
EMPLACE_API Output assign(Output ref, Output value, std::string name = {},
                          SourceLocation where = SourceLocation::current());
EMPLACE_API Output assign_add(Output ref, Output value, std::string name = {},
                              SourceLocation where = SourceLocation::current());

EMPLACE_API Output matmul(Output a, Output b, bool transpose_a = false, bool transpose_b = false,
                          std::string name = {}, SourceLocation where = SourceLocation::current());
EMPLACE_API Output add_n(std::span<const Output> inputs, std::string name = {},
                         SourceLocation where = SourceLocation::current());
EMPLACE_API Output identity(Output x, std::string name = {},
                            SourceLocation where = SourceLocation::current());
EMPLACE_API Output reduce_sum(Output x, std::vector<int32_t> axes, bool keep_dims = false,
                              std::string name = {},
                              SourceLocation where = SourceLocation::current());
EMPLACE_API Output relu(Output x, std::string name = {},
                        SourceLocation where = SourceLocation::current());
EMPLACE_API Output sigmoid(Output x, std::string name = {},
                           SourceLocation where = SourceLocation::current());
EMPLACE_API Output tanh(Output x, std::string name = {},
                        SourceLocation where = SourceLocation::current());
EMPLACE_API Node* no_op(std::string name = {}, SourceLocation where = SourceLocation::current());
EMPLACE_API Node* group(std::span<Node* const> nodes, std::string name = {},
                        SourceLocation where = SourceLocation::current());

// The first operand of an operator, whose signature has no other place for the line.
struct Operand {
  Operand(Output o, SourceLocation w = SourceLocation::current()) : output(o), where(w) {}
  Output output;
  SourceLocation where;
};
EMPLACE_API Output operator+(Operand a, Output b);
EMPLACE_API Output operator-(Operand a, Output b);
EMPLACE_API Output operator*(Operand a, Output b);
EMPLACE_API Output operator/(Operand a, Output b);
EMPLACE_API Output operator-(Operand a);

// ---- Gradients.

struct GradientOptions {
  std::vector<Output> grad_ys = {};         // what the pass begins with; ones unless given
  std::vector<Output> stop_gradients = {};  // taken as constants
  bool colocate_with_ops = false;           // each backward operation beside its forward one
  std::string name = "gradients";
};

// The derivatives of the sum of `ys` by each of `xs`, added to their graph; an empty Output where
// nothing connects them. Unimplemented, naming the node, when an operation between has none.
// A call, branch or loop on the way is made to give what its gradient needs from inside of it.
EMPLACE_API std::vector<Output> gradients(std::span<const Output> ys, std::span<const Output> xs,
                                          const GradientOptions& options = {},
                                          SourceLocation where = SourceLocation::current());

// A gradient as a tensor, or, with `indices`, as some of its rows: TensorFlow's IndexedSlices.
// values[i] belongs to row indices[i]; rows that occur again add up. Gathering along the first axis
// gives such ones, so that a step of a large table touches only the rows that were looked up.
struct EMPLACE_API Gradient {
  Output values;
  Output indices, dense_shape;  // empty: a tensor

  Gradient() = default;
  Gradient(Output tensor) : values(tensor) {}
  Gradient(Output rows, Output which, Output shape)
      : values(rows), indices(which), dense_shape(shape) {}
  bool is_slices() const { return static_cast<bool>(indices); }
  // Adds what makes a tensor of rows.
  Output dense(SourceLocation where = SourceLocation::current()) const;
  explicit operator bool() const { return static_cast<bool>(values); }
};

// As `gradients`, which makes tensors of what this leaves as rows.
EMPLACE_API std::vector<Gradient> gradients_or_slices(std::span<const Output> ys,
                                                      std::span<const Output> xs,
                                                      const GradientOptions& options = {},
                                                      SourceLocation where =
                                                          SourceLocation::current());

// Takes a node and what came back to each of its outputs; gives what goes on to each input.
using GradientFunction = std::function<std::vector<Output>(Node&, std::span<const Output>)>;
// For every graph of the process. An empty function: nothing flows back. AlreadyExists if taken.
EMPLACE_API void register_gradient(std::string op, GradientFunction function);

// A step of plain gradient descent for all these variables; of a gradient in rows, only for those.
EMPLACE_API Node* gradient_descent(Output loss, std::span<const VariableNodes> variables,
                                   double rate, std::string name = "GradientDescent",
                                   SourceLocation where = SourceLocation::current());

}  // namespace emplace
