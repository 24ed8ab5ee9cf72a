#pragma once
#include <string>
#include <vector>

#include "emplace/graph.h"
#include "placement/spec_table.h"

namespace emplace::placement {

class Context;

// All that placing needs to know of an op under given type attributes.
struct OpClass {
  int types = -1;            // TypeTable: who has a kernel
  bool other_attrs = false;  // kernels exist, for other attributes
  bool has_ref_inputs = false;
  bool exempt = false;    // hands handles on, so its resource inputs do not tie it
  bool calls = false;     // calls a function that is placed in its own right
  bool dataset = false;
  bool metadata = false;  // looks at its input's shape only
  bool identity = false;
  enum class Elements : uint8_t { kUnknown, kDevice, kHost } elements = Elements::kUnknown;
};

// Classes of nodes: found by op and type attributes, each asked of the oracle once.
class OpClasses {
 public:
  explicit OpClasses(Context& context) : context_(context) {}
  int find(const Node& node);
  const OpClass& operator[](int id) const { return classes_[id]; }

 private:
  void make_key(const Node& node);
  OpClass classify(const Node& node) const;

  Context& context_;
  std::string key_;  // reused, so that a look-up allocates nothing
  TextMap<int> by_key_;
  std::vector<OpClass> classes_;
};

// Is input `i` of the node a reference?
bool is_ref_input(const Node& node, int i);

}  // namespace emplace::placement
