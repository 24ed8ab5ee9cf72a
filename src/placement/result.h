#pragma once
#include <memory>
#include <vector>

#include "placement/colocation.h"
#include "placement/context.h"
#include "placement/placer.h"

namespace emplace::placement {

// What place() leaves behind: the devices, and enough of its working state to say why.
struct Result {
  Result(std::span<Node* const> given, std::span<const DeviceInfo> devices,
         const KernelOracle& oracle, const PlacementOptions& options,
         std::span<const int> already_placed)
      : nodes(given.begin(), given.end()),
        placed_before(already_placed.begin(), already_placed.end()),
        context(devices, oracle, options),
        groups(context, nodes, placed_before, options.function),
        device(nodes.size(), -1),
        reason(nodes.size(), Reason::kDefault),
        followed(nodes.size(), -1) {}

  std::vector<Node*> nodes;
  std::vector<int> placed_before;
  Context context;  // its oracle is gone once place() returns
  Colocation groups;
  std::vector<int> device;
  std::vector<Reason> reason;
  std::vector<int> followed;  // the node that drew this one, where there is one
};

}  // namespace emplace::placement
