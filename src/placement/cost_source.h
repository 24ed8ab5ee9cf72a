#pragma once
#include <optional>

#include "emplace/plan.h"
#include "placement/request.h"

namespace emplace {

// Seconds that one run of a node takes on a device, and how sure that is.
struct NodeCost {
  double seconds = 0;
  double spread = 0;       // standard deviation of what was seen; estimates: how far off they may be
  bool measured = false;
};

// What is known of costs: a book of measurements, rules of the ops, or both. What it says holds for
// a device at rest. A pure question; several threads may ask at once.
class CostSource {
 public:
  virtual ~CostSource() = default;
  // Nothing: not known, and nobody may guess. The node has a kernel there.
  virtual std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const = 0;
  // Bytes of an output as it usually is; where dimensions are unknown, a stated guess.
  virtual double bytes(const Node& node, int output) const = 0;
  // What it takes to bring a tensor from one device to another.
  virtual CostLink link(const DeviceInfo& from, const DeviceInfo& to) const = 0;
};

}  // namespace emplace
