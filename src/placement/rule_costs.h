#pragma once
#include "placement/cost_source.h"

namespace emplace {

// Costs by the ops' rules and guessed rates of devices, before anything was measured.
class RuleCosts final : public CostSource {
 public:
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override;
  double bytes(const Node& node, int output) const override;
  CostLink link(const DeviceInfo& from, const DeviceInfo& to) const override;
};

}  // namespace emplace
