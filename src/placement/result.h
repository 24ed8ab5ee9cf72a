#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "placement/colocation.h"
#include "placement/context.h"
#include "placement/placer.h"

namespace emplace::placement {

class Why;

// What place() leaves behind: the devices, and enough of its working state to say why.
struct Result {
  Result(std::span<Node* const> given, std::span<const DeviceInfo> devices,
         const KernelOracle& oracle, const PlacementOptions& options,
         std::span<const int> already_placed);
  ~Result();

  std::vector<Node*> nodes;
  std::vector<int> placed_before;
  Context context;  // its oracle is gone once place() returns
  Colocation groups;
  std::vector<int> device;
  std::vector<Reason> reason;
  std::vector<int> followed;  // the node that drew this one, where there is one

  // Explaining shortens paths and fills tables: one at a time.
  mutable std::mutex explaining;
  mutable std::unique_ptr<const Why> why;  // made by the first question
};

}  // namespace emplace::placement
