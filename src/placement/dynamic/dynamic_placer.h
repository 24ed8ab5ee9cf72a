#pragma once
#include "placement/placer.h"

namespace emplace {

// Weighs what a step costs: how long each node takes on each device, what is copied and over which
// link, what each device can hold, and searches for a placement under which the step ends soonest.
// All that the simple placer keeps (requests, kernels, ties, earlier placements) holds, and its
// answer is the least that is accepted. Nodes beside the step follow the simple placer's rules.
class DynamicPlacer final : public Placer {
 public:
  Placement place(const PlacementRequest& request) const override;
  std::optional<StepForecast> forecast(const PlacementRequest& request,
                                       std::span<const int> devices) const override;
};

}  // namespace emplace
