// What a placer is asked: nodes, devices, kernels, costs, what the user wants, what stands already.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_name.h"
#include "emplace/graph.h"
#include "emplace/plan.h"

namespace emplace {

class CostSource;

// A device as a placer sees it: a name, how much it is liked, and what it holds.
struct DeviceInfo {
  std::string name;  // full: "/job:localhost/replica:0/task:0/device:GPU:0"
  DeviceName parsed;
  std::string type;         // "GPU"
  int priority = 50;        // of the type; the highest is taken first
  bool local = true;        // in this process
  std::string description = {};  // "device: 0, name: …"; empty for CPUs
  std::optional<double> memory = {};  // bytes; none: unlimited
  std::optional<int> slots = 1;       // nodes that run at once; none: any number
  std::string pool = {};              // devices of one pool share its cores; empty: cores of its own
  double pool_cores = 1;
  double most_cores = 0;  // of the pool, that the device can use; 0: all
  bool records = false;   // launches runs of its nodes as one, an island
};

int device_type_priority(std::string_view type);  // GPU 210, CPU 60, any other 50
// A device of a full name, its type's priority filled in. Throws InvalidArgument when the name is
// not a full one.
DeviceInfo device_info(std::string_view full_name, std::string description = {},
                       bool local = true);

// A device type that can run a node; the kernel with the highest priority draws the node to it.
struct Support {
  std::string type;
  int priority = 0;
  bool replays = false;  // may be a part of an island
};

struct Kernels {
  std::vector<Support> types;
  bool any_type = false;     // nothing is known of the op: every device is assumed to run it
  bool other_attrs = false;  // there are kernels, but for other attributes
};

// What the placer asks about kernels. The answer may depend on the node's op, on its attributes of
// kind type and list(type) and on `_kernel`, and on nothing else: it is asked once for each.
class KernelOracle {
 public:
  virtual ~KernelOracle() = default;
  virtual Kernels kernels(const Node& node) const = 0;
  // "  device='CPU'; T in [DT_FLOAT]\n…", as errors list what is registered for the op.
  virtual std::string kernel_list(const Node& node) const = 0;
};

struct PlacementOptions {
  bool allow_soft_placement = false;
  bool log = false;  // keep notes about requests that were ignored
  std::string default_local_device = {};  // full name; preferred to all others (functions)
  std::string function = {};              // name of the function whose body is placed
  PlanOptions search = {};                // placers that search: how long
  bool one_device = false;                // … don't: what can be on one device is
};

// What one run asks of a graph.
struct PlannedRun {
  std::span<const Output> feeds = {}, fetches = {};
  std::span<Node* const> targets = {};
  // Where each feed lies: a device index, or -1 for the host's memory; empty: all in the host's.
  std::span<const int> feed_devices = {};
  bool fetches_stay = false;  // where they were made
};

// `nodes` are of one graph, in order of creation, and kept from changing by the caller; edges to
// nodes outside them do not count. What the user wants stands on the nodes themselves: requested
// device, `_class`, hints. All of it is only lent for the call.
struct PlacementRequest {
  std::span<Node* const> nodes;
  std::span<const DeviceInfo> devices;
  const KernelOracle* oracle = nullptr;
  PlacementOptions options = {};
  std::span<const int> already_placed = {};  // a device index or -1 a node; empty: none is placed
  const CostSource* costs = nullptr;         // null: nothing is known of costs
  PlannedRun run = {};                       // that the nodes are placed for; empty: not known
};

// One operation that is to run at once, with nothing around it to weigh.
struct CallRequest {
  std::span<const DeviceInfo> devices;
  std::span<const Support> kernels;  // device types that can run it, the preferred first
  const DeviceName& wanted;
};

// The index of a device that was assigned by name earlier; throws Internal when the name is
// malformed or no such device is left.
int assigned_device(const Node& node, std::string_view name, std::span<const DeviceInfo> devices);

}  // namespace emplace
