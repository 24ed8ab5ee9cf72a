#pragma once
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "emplace/ops.h"

// Functions that are made here, most of them of nodes that are there.
namespace emplace::grad {

// Nodes, every one behind what it reads (and waits for); `ends` are not gone beyond.
std::vector<Node*> in_order(std::span<Node* const> roots, bool with_controls,
                            const std::unordered_set<Node*>& ends = {});

struct PartOptions {
  std::vector<Node*> also = {};  // copied though no output reads them
  std::vector<Node*> control_outputs = {};
  bool with_controls = false;  // what nodes wait for is copied too
  bool stateful = false;
  AttrList attrs = {};
};

// Adds to `graph` a function, named like `base`, that computes `outputs` as their graph does, from
// `arguments` there; its name.
std::string add_part(Graph& graph, const std::string& base, std::span<const Output> arguments,
                     std::span<const Output> outputs, const PartOptions& options = {});

// … one of arguments of these types, of which `make` builds the results.
std::string add_function(Graph& graph, const std::string& base, std::span<const DType> types,
                         const std::function<std::vector<Output>(std::span<const Output>)>& make);

// One more argument of a function.
Output add_argument(Function& f, DType dtype, const Shape& shape);

}  // namespace emplace::grad
