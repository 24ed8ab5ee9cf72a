#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emplace/emplace.h"
#include "random_values_testutil.h"

namespace emplace::testing {

// A value that a drawn node may take.
struct Known {
  Output output;
  Tensor value;  // none inside functions, where only the shape may be known
};

// Draws calls of operations whose inputs come from a pool of known values. Any call may turn out
// to be refused by the graph or by its kernel: whoever draws tries another then.
class NodeDraw {
 public:
  NodeDraw(Random& random, Graph& graph) : r_(random), graph_(graph) {}

  std::vector<Known> pool;

  // A node of `op`, or none when this draw did not fit.
  Node* draw(const OpDef& op, NodeOptions options);
  // Can the operation be fed from a pool at all?
  static bool suits(const OpDef& op);

 private:
  Output choose(const OpDef& op, const ArgDef& arg, DType dtype);
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
