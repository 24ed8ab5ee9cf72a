#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emplace/emplace.h"
#include "golden_calls_testutil.h"
#include "random_values_testutil.h"

namespace emplace::testing {

// A value that a drawn node may take.
struct Known {
  Output output;
  Tensor value;  // none inside functions, where only the shape may be known
};

// Draws calls of operations: with inputs from a pool of known values, or such as the tables of
// golden calls have. Any call may turn out to be refused by the graph or by its kernel: whoever
// draws tries another then.
class NodeDraw {
 public:
  NodeDraw(Random& random, Graph& graph) : r_(random), graph_(graph) {}

  std::vector<Known> pool;
  std::function<Output(const Tensor&)> source;  // of a given value; a constant unless set

  // A node of `op`, or none when this draw did not fit.
  Node* draw(const OpDef& op, NodeOptions options);
  // A node as a golden call has it, but for where its inputs come from, and now and then their
  // values.
  Node* draw_like(const GoldenCall& call, NodeOptions options);
  // Can the operation be fed from a pool at all?
  static bool suits(const OpDef& op);
  // May only old graphs have it?
  static bool is_removed(const OpDef& op);

 private:
  Node* add(const OpDef& op, NodeOptions options);
  Output choose(const OpDef& op, const ArgDef& arg, DType dtype);
  Output input_like(const Tensor& value);
  std::optional<Output> index_argument(const OpDef& op, const ArgDef& arg, DType dtype);
  DType type_of(const OpDef& op, const ArgDef& arg);
  void choose_attrs(const OpDef& op);
  AttrValue random_attr(const AttrDef& attr);
  Output integers(DType dtype, std::vector<int64_t> values, bool scalar = false);

  Random& r_;
  Graph& graph_;
  // Of the call under way:
  AttrList attrs_;
  std::map<std::string, DType> types_;
  std::map<std::string, int> numbers_;
  std::vector<Output> inputs_;
};

}  // namespace emplace::testing
