// The blocks that say something about the nodes made inside them. Each thread has its own.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "emplace/error.h"
#include "graph/graph_state.h"
#include "graph/source_line.h"

namespace emplace {
namespace {

uint64_t next_token() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// A block may be left by another thread than the one that opened it (a collector's): nothing to do
// then. Blocks left out of order take only themselves away.
template <class Leave>
Scope scope_of(uint64_t graph, Leave leave) {
  return Scope([graph, leave = std::move(leave)]() mutable {
    if (ScopeStacks* stacks = find_scopes(graph)) leave(*stacks);
    drop_if_empty(graph);
  });
}

// Works a block's answer out from its outer one's.
void settle(DeviceScope& scope, const std::vector<DeviceScope>& outer) {
  const bool over_settled = outer.empty() || outer.back().settled;
  if (scope.kind == DeviceScope::Kind::kClear) scope.settled = true;
  if (scope.kind != DeviceScope::Kind::kName || !over_settled) return;
  scope.settled = true;
  scope.merged = scope.name;
  if (!outer.empty()) scope.merged.merge_unset(outer.back().merged);
  scope.answer = scope.merged.to_string();
}

// What `check` throws bears the line of the user's call.
template <class Check>
auto at_line(const std::source_location& where, Check check) {
  try {
    return check();
  } catch (Error& e) {
    e.from_source(source_line(where));
    throw;
  }
}

Scope push_device(uint64_t graph, DeviceScope scope) {
  ScopeStacks& stacks = open_scopes(graph);
  scope.token = next_token();
  settle(scope, stacks.devices);
  const uint64_t token = scope.token;
  stacks.devices.push_back(std::move(scope));
  return scope_of(graph, [token](ScopeStacks& s) {
    std::erase_if(s.devices, [&](const DeviceScope& d) { return d.token == token; });
  });
}

}  // namespace

Scope Graph::name_scope(std::string_view name, const std::source_location& where) {
  const uint64_t graph = state_->number;
  std::string old = current_name_scope();
  if (!old.empty()) old.pop_back();
  if (!name.empty()) at_line(where, [&] { check_scope_name(name, old.empty()); });
  std::string opened(name);
  if (opened.ends_with('/')) opened.pop_back();
  else if (!opened.empty()) opened = unique_name(opened);
  open_scopes(graph).name = std::move(opened);
  return Scope([graph, old = std::move(old)] {
    if (ScopeStacks* stacks = find_scopes(graph)) stacks->name = old;
    else if (!old.empty()) open_scopes(graph).name = old;
    drop_if_empty(graph);
  });
}

std::string Graph::current_name_scope() const {
  const ScopeStacks* stacks = find_scopes(state_->number);
  return stacks == nullptr || stacks->name.empty() ? std::string() : stacks->name + "/";
}

std::string Graph::unique_name(std::string_view name, bool mark_as_used) {
  const std::string full = current_name_scope() + std::string(name);
  std::unique_lock lock(mutex_);
  std::string given = state_->names.unique(full);
  if (mark_as_used) state_->names.take(full, given);
  return given;
}

Scope Graph::device(std::string_view name, const std::source_location& where) {
  DeviceScope scope;
  scope.name = at_line(where, [&] { return DeviceName::parse(name); });
  return push_device(state_->number, std::move(scope));
}

Scope Graph::device(std::nullptr_t) {
  DeviceScope scope;
  scope.kind = DeviceScope::Kind::kClear;
  return push_device(state_->number, std::move(scope));
}

Scope Graph::device(DeviceFunction function) {
  if (!function) return device(nullptr);
  DeviceScope scope;
  scope.kind = DeviceScope::Kind::kFunction;
  scope.function = std::move(function);
  return push_device(state_->number, std::move(scope));
}

Scope Graph::control_dependencies(std::span<Node* const> nodes, const std::source_location& where) {
  at_line(where, [&] {
    for (const Node* node : nodes) state_->check_owned(node, "Control input");
  });
  ScopeStacks& stacks = open_scopes(state_->number);
  ControlScope scope;
  scope.token = next_token();
  const auto asked = [&](const Node* node) {
    const auto has = [&](const ControlScope& s) {
      return std::ranges::find(s.nodes, node) != s.nodes.end();
    };
    return has(scope) || std::ranges::any_of(stacks.controls, has);
  };
  for (Node* node : nodes)
    if (!asked(node)) scope.nodes.push_back(node);
  const uint64_t token = scope.token;
  stacks.controls.push_back(std::move(scope));
  return scope_of(state_->number, [token](ScopeStacks& s) {
    std::erase_if(s.controls, [&](const ControlScope& c) { return c.token == token; });
  });
}

Scope Graph::control_dependencies(std::nullptr_t) {
  const uint64_t graph = state_->number;
  auto outer = std::make_shared<std::vector<ControlScope>>();
  outer->swap(open_scopes(graph).controls);
  drop_if_empty(graph);
  return Scope([graph, outer] {
    open_scopes(graph).controls.swap(*outer);
    drop_if_empty(graph);
  });
}

Scope Graph::colocate_with(Node* node, bool ignore_existing, const std::source_location& where) {
  at_line(where, [&] {
    if (node == nullptr && !ignore_existing)
      throw invalid_argument(
          "Trying to reset colocation (op is None) but `ignore_existing` is not True");
    if (node != nullptr) state_->check_owned(node, "Colocation partner");
  });
  const uint64_t graph = state_->number;
  ScopeStacks& stacks = open_scopes(graph);
  struct Outer {
    std::vector<DeviceScope> devices;
    std::vector<Node*> colocation;
  };
  auto outer = std::make_shared<Outer>();
  outer->devices.swap(stacks.devices);  // colocation is stronger than the device blocks around it
  outer->colocation = stacks.colocation;
  if (ignore_existing) stacks.colocation.clear();
  if (node != nullptr) stacks.colocation.push_back(node);
  drop_if_empty(graph);
  return Scope([graph, outer] {
    ScopeStacks& s = open_scopes(graph);
    s.devices.swap(outer->devices);
    s.colocation.swap(outer->colocation);
    drop_if_empty(graph);
  });
}

}  // namespace emplace
