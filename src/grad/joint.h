#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "emplace/ops.h"

namespace emplace::grad {

bool flows(DType t);  // gradients follow: numbers, lists of them, handles of variables

// Zeros for x, whose gradient is of this dtype: x may be a handle.
Output zeros_for(Output x, DType dtype);

std::vector<DType> types(std::span<const Output> values);

// A function and its gradient in one graph, which is then cut in two: a function that gives more
// than the first one, and one that goes back from there. Whoever calls the first has it give what
// `taken` says, and hands that to the second.
class Joint {
 public:
  // A copy of what `graph` knows by this name.
  Joint(Graph& graph, const std::string& name);

  Graph& body() const { return *f_->body; }
  size_t num_arguments() const { return arguments_.size(); }
  Output argument(size_t i) const { return arguments_[i]; }  // of the function
  std::span<const Output> arguments() const { return arguments_; }
  std::span<const Output> results() const { return f_->outputs; }
  // Whether result i is argument i, and so the same in every round of a loop.
  bool passes_through(size_t i) const;
  // The arguments from which gradients of these results come.
  std::unordered_set<size_t> reached(const std::unordered_set<size_t>& results) const;

  // One more argument, for parts to take.
  Output more(DType dtype, const Shape& shape = Shape::unknown());
  // One for the gradient of result i.
  Output seed(size_t i, DType dtype);

  // Goes back from these results, each with its gradient (of `more`), to these arguments.
  void go_back(std::span<const size_t> results, std::span<const Output> seeds,
               std::span<const size_t> by);
  // What came back to argument i; settable, for what is nothing here and something elsewhere.
  Gradient& gradient(size_t i) { return gradients_[i]; }

  // Values of the function that `outputs` read and no constants.
  std::vector<Output> taken(std::span<const Output> outputs) const;

  // Adds to the graph a function of these arguments; its name. The forward part does whatever
  // the function did.
  std::string forward_part(std::span<const Output> arguments, std::span<const Output> outputs);
  std::string backward_part(std::span<const Output> arguments, std::span<const Output> outputs);

 private:
  std::unordered_set<Node*> forward_nodes() const;
  std::string add_part(const std::string& name, std::span<const Output> arguments,
                       std::span<const Output> outputs, bool whole);

  Graph& graph_;
  std::shared_ptr<Function> f_;
  std::vector<Output> arguments_;
  size_t num_nodes_;  // of the copy, before anything was added
  std::vector<Gradient> gradients_;
};

}  // namespace emplace::grad
