#pragma once
#include "placement/placer.h"

namespace emplace {

// Rules, as TensorFlow has them: earlier placements stay, then what the user asked for, then the
// best device that has a kernel; nodes tied by references, resources or `_class` stay together.
// Linear in nodes and edges.
class SimplePlacer final : public Placer {
 public:
  Placement place(const PlacementRequest& request) const override;
};

}  // namespace emplace
