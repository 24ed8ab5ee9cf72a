#include "graph/scope_stacks.h"

#include <algorithm>
#include <memory>

namespace emplace {
namespace {

struct Entry {
  uint64_t graph;
  std::unique_ptr<ScopeStacks> stacks;
};

// A thread has few graphs with open blocks at a time: a search by eye is quickest.
thread_local std::vector<Entry> tls_stacks;

bool reads_seen(const ControlScope& scope, std::span<const Output> inputs) {
  return std::ranges::any_of(inputs, [&](const Output& in) { return scope.seen.contains(in.node); });
}

bool is_input(const Node* node, std::span<const Output> inputs) {
  return std::ranges::any_of(inputs, [&](const Output& in) { return in.node == node; });
}

}  // namespace

ScopeStacks* find_scopes(uint64_t graph) {
  for (Entry& e : tls_stacks)
    if (e.graph == graph) return e.stacks.get();
  return nullptr;
}

ScopeStacks& open_scopes(uint64_t graph) {
  if (ScopeStacks* s = find_scopes(graph)) return *s;
  return *tls_stacks.emplace_back(Entry{graph, std::make_unique<ScopeStacks>()}).stacks;
}

void drop_if_empty(uint64_t graph) {
  std::erase_if(tls_stacks, [&](const Entry& e) { return e.graph == graph && e.stacks->empty(); });
}

const std::string* settled_device(const std::vector<DeviceScope>& devices) {
  static const std::string kNone;
  if (devices.empty()) return &kNone;
  return devices.back().settled ? &devices.back().answer : nullptr;
}

std::string device_from(const std::vector<DeviceScope>& devices, const Node& node,
                        const std::function<void(const std::string&)>& show) {
  std::string device = node.device();
  for (auto scope = devices.rbegin(); scope != devices.rend(); ++scope) {
    if (scope->kind == DeviceScope::Kind::kClear) break;
    if (scope->kind == DeviceScope::Kind::kFunction) {
      show(device);  // a function may look at what inner blocks have said
      device = scope->function(node);
    } else if (!scope->name.empty()) {
      DeviceName merged = DeviceName::parse(device);
      merged.merge_unset(scope->name);
      device = merged.to_string();
    }
  }
  return device;
}

void add_control_inputs(const std::vector<ControlScope>& controls, std::span<const Output> inputs,
                        std::vector<Node*>& out) {
  for (const ControlScope& scope : controls) {
    if (reads_seen(scope, inputs)) continue;
    for (Node* node : scope.nodes)
      if (!is_input(node, inputs) && std::ranges::find(out, node) == out.end()) out.push_back(node);
  }
}

}  // namespace emplace
