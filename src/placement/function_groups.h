#pragma once
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "emplace/graph.h"
#include "placement/spec_table.h"

namespace emplace::placement {

class Context;

// How a function ties the resources that go in and come out: those with the same number must be
// on one device, which must meet that group's constraints. -1: not a resource.
struct ResourceGroups {
  struct Constraint {
    int requested, resource;  // SpecTable
    int types;                // TypeTable
  };
  std::vector<int> inputs, outputs;
  std::vector<Constraint> constraints;
};

// Looks into functions that return resources, each once. Bodies are worked through from an explicit
// stack, so that nesting is bounded by memory only; a function that calls itself is refused.
class FunctionGroups {
 public:
  explicit FunctionGroups(Context& context) : context_(context) {}
  // `caller`: name of the function in whose body the call is, empty for a graph.
  const ResourceGroups& of(const Node& call, const std::string& caller);

 private:
  struct Frame;
  Frame enter(const Node& call, const std::string& caller) const;
  void work(std::vector<Frame>& stack);
  ResourceGroups analyse(const Frame& frame) const;
  void refuse_recursion(const std::vector<Frame>& stack, const Node& call) const;

  Context& context_;
  const Graph* root_ = nullptr;  // where functions are looked up first
  TextMap<std::unique_ptr<ResourceGroups>> known_;
  std::unordered_set<std::string> active_;  // functions being worked through
};

// The function a call names.
const std::string& function_name(const Node& call);

}  // namespace emplace::placement
