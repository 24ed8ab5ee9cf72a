#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/device_name.h"
#include "emplace/graph.h"

namespace emplace {

// One `device` block. A block of strings over strings knows its answer when it is opened, so that
// nodes made in it parse nothing.
struct DeviceScope {
  uint64_t token = 0;
  enum class Kind : uint8_t { kName, kFunction, kClear } kind = Kind::kName;
  DeviceName name;
  DeviceFunction function;
  bool settled = false;  // `answer` holds: no function between here and the outermost block
  DeviceName merged;     // with what the outer blocks say, if settled
  std::string answer;    // merged, printed
};

// One `control_dependencies` block, with the nodes made in it: a node that reads one of those is
// ordered already.
struct ControlScope {
  uint64_t token = 0;
  std::vector<Node*> nodes;
  std::unordered_set<const Node*> seen;
};

// What the open blocks of one thread say about the next node of one graph.
struct ScopeStacks {
  std::string name;  // without the closing '/'
  std::vector<DeviceScope> devices;
  std::vector<ControlScope> controls;
  std::vector<Node*> colocation;

  bool empty() const {
    return name.empty() && devices.empty() && controls.empty() && colocation.empty();
  }
};

// This thread's stacks for the graph with that number; null if no block is open.
ScopeStacks* find_scopes(uint64_t graph);
ScopeStacks& open_scopes(uint64_t graph);  // made if need be
void drop_if_empty(uint64_t graph);        // after a block has closed

// The device that the blocks give `node`, innermost first: names fill what is open, a function's
// answer replaces everything, a clearing block ends the walk. Calls user code.
std::string device_from(const std::vector<DeviceScope>& devices, const Node& node,
                        const std::function<void(const std::string&)>& show);
// The same when no function is involved; null otherwise.
const std::string* settled_device(const std::vector<DeviceScope>& devices);

// Control inputs that the blocks ask for, given the nodes it reads.
void add_control_inputs(const std::vector<ControlScope>& controls, std::span<const Output> inputs,
                        std::vector<Node*>& out);

}  // namespace emplace
