#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_name.h"
#include "emplace/graph.h"

namespace emplace {

namespace placement {
struct Result;
}

// A device as the placer sees it: a name and how much it is liked.
struct DeviceInfo {
  std::string name;  // full: "/job:localhost/replica:0/task:0/device:GPU:0"
  DeviceName parsed;
  std::string type;         // "GPU"
  int priority = 50;        // of the type; the highest is taken first
  bool local = true;        // in this process
  std::string description;  // "device: 0, name: …"; empty for CPUs
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
};

enum class Reason : uint8_t {
  kAlreadyPlaced,    // in an earlier run
  kPinned,           // the user asked for it
  kColocated,        // with the nodes it shares a reference, a resource or a group with
  kFollowsConsumer,  // a source goes where all its readers are
  kFollowsInput,     // Shape, Size, Rank and some Identities stay with their input
  kDefault,          // best device of the best type that has a kernel
  kSoft,             // the user's wish cannot be met; soft placement took the next best
};
std::string_view reason_name(Reason reason);  // "pinned", "colocated", …

struct Rejected {
  std::string device;
  std::string why;
};

struct PlacedNode {
  const Node* node = nullptr;
  int device = -1;  // index into the devices given to place()
  Reason reason = Reason::kDefault;
  std::string detail;  // in words: "pinned by the user to '/device:GPU:2'"
  std::vector<Rejected> rejected;
};

// The outcome of placing: a device for every node. A cheap handle of shared, immutable data; the
// nodes' graph must outlive it. Reasons in words are made when asked for. Any thread may ask.
class Placement {
 public:
  size_t size() const;
  std::span<const int> devices() const;  // per node, in the order given to place()
  int device(size_t node) const { return devices()[node]; }
  const DeviceInfo& info(size_t node) const;
  Reason reason(size_t node) const;

  PlacedNode explain(size_t node) const;
  std::vector<PlacedNode> explain() const;  // of all nodes
  std::string table() const;                // node, op, device, reason: one line a node

  // One line for each node that this call placed, in the order of log_order().
  std::string log_text() const;
  // Requests that were ignored (with options.log) and resources that had to move.
  const std::vector<std::string>& notes() const;

  explicit Placement(std::shared_ptr<const placement::Result> result);

 private:
  std::shared_ptr<const placement::Result> result_;
};

// Gives every node a device: earlier placements stay, then what the user asked for, then the best
// device that has a kernel; nodes tied by references, resources or `_class` stay together.
// A pure function: it changes nothing, and the same arguments give the same answer. `nodes` are of
// one graph, in order of creation, and kept from changing by the caller; edges to nodes outside
// them do not count. `already_placed` has a device index or -1 for each node, or is empty. Linear
// in nodes and edges. Throws Error, with node, op and source filled in.
Placement place(std::span<Node* const> nodes, std::span<const DeviceInfo> devices,
                const KernelOracle& oracle, const PlacementOptions& options = {},
                std::span<const int> already_placed = {});

// The index of a device that was assigned by name earlier; throws Internal when the name is
// malformed or no such device is left.
int assigned_device(const Node& node, std::string_view name, std::span<const DeviceInfo> devices);

}  // namespace emplace
