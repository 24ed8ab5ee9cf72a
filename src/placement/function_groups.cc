#include "placement/function_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "placement/colocation.h"
#include "placement/context.h"
#include "placement/place_error.h"

namespace emplace::placement {

struct FunctionGroups::Frame {
  std::shared_ptr<const Function> function;
  const Node* call;
  std::string caller;
  std::vector<Node*> nodes;  // of the body
  size_t next = 0;           // first node not yet looked at
};

const std::string& function_name(const Node& call) {
  return call.attr("f")->as<FunctionName>().name;
}

const ResourceGroups& FunctionGroups::of(const Node& call, const std::string& caller) {
  if (!root_) root_ = &call.graph();
  const std::string& name = function_name(call);
  if (auto found = known_.find(name); found != known_.end()) return *found->second;
  std::vector<Frame> stack;
  active_ = {caller, name};
  if (name == caller) refuse_recursion(stack, call);
  stack.push_back(enter(call, caller));
  while (!stack.empty()) work(stack);
  return *known_.find(name)->second;
}

FunctionGroups::Frame FunctionGroups::enter(const Node& call, const std::string& caller) const {
  const std::string& name = function_name(call);
  auto function = call.graph().find_function(name);
  if (!function && root_ != &call.graph()) function = root_->find_function(name);
  if (!function) {
    throw attached(call, Code::kInvalidArgument,
                   fmt::format("Failed to find function \"{}\" in function library", name));
  }
  std::vector<Node*> nodes = function->body->nodes();
  return {std::move(function), &call, caller, std::move(nodes)};
}

// One step: go into the next unknown function that the top one calls, or finish the top one.
void FunctionGroups::work(std::vector<Frame>& stack) {
  Frame& top = stack.back();
  while (top.next < top.nodes.size()) {
    const Node& node = *top.nodes[top.next++];
    if (!returns_resource_from_call(node) || known_.contains(function_name(node))) continue;
    if (!active_.insert(function_name(node)).second) refuse_recursion(stack, node);
    stack.push_back(enter(node, top.function->name));
    return;
  }
  known_.emplace(top.function->name, std::make_unique<ResourceGroups>(analyse(top)));
  active_.erase(top.function->name);
  stack.pop_back();
}

ResourceGroups FunctionGroups::analyse(const Frame& frame) const {
  Colocation body(context_, frame.nodes, {}, frame.function->name);
  body.build();
  ResourceGroups result;
  std::vector<int> roots;  // of the groups, in order of their numbers
  const auto number = [&](int root) {
    const auto at = std::ranges::find(roots, root);
    if (at != roots.end()) return static_cast<int>(at - roots.begin());
    roots.push_back(root);
    const Member& m = body.root(root);
    result.constraints.push_back({m.requested, m.resource, m.types});
    return static_cast<int>(roots.size()) - 1;
  };
  const auto group = [&](const Output& end) {
    if (end.dtype() != DType::kResource) return -1;
    const int at = body.endpoint(end);
    return at < 0 ? -1 : number(body.find(at));
  };
  for (Node* arg : frame.function->inputs) result.inputs.push_back(group({arg, 0}));
  for (const Output& out : frame.function->outputs) result.outputs.push_back(group(out));
  return result;
}

void FunctionGroups::refuse_recursion(const std::vector<Frame>& stack, const Node& call) const {
  const auto tag = [](const std::string& f) { return "{{function_node " + f + "}}"; };
  std::string trace;
  for (const Frame& f : stack) {
    const std::string node = node_tag(*f.call);
    trace += "\n  " + (f.caller.empty() ? "Graph" : "Function " + tag(f.caller)) +
             " contains node " + node + "\n  Node " + node + " calls function " +
             tag(f.function->name);
  }
  const std::string& inside =
      stack.empty() ? context_.options.function : stack.back().function->name;
  throw attached(call, Code::kUnimplemented,
                 fmt::format("Recursive function calls are not supported. Node {} inside the body "
                             "of {} calls function {} which is already present in the call "
                             "stack:{}",
                             node_tag(call), tag(inside), tag(function_name(call)), trace));
}

}  // namespace emplace::placement
