#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "placement/colocation.h"
#include "placement/context.h"
#include "placement/placer.h"

namespace emplace::placement {

class Why;

// What the simple placer leaves behind: the devices, and enough of its working state to say why.
struct Result final : Explainer {
  explicit Result(const PlacementRequest& request);
  ~Result() override;
  PlacedNode explain(size_t node) const override;

  std::vector<Node*> nodes;
  std::vector<int> placed_before;
  Context context;  // its oracle is gone once place() returns
  Colocation groups;
  std::vector<int> device;
  std::vector<Reason> reason;
  std::vector<int> followed;  // the node that drew this one, where there is one

 private:
  // Explaining shortens paths and fills tables: one at a time.
  mutable std::mutex explaining_;
  mutable std::unique_ptr<const Why> why_;  // made by the first question
};

// The simple placer's work in two parts, for placers that go on from it: what is tied to what, and
// then a device for every group that has none yet.
std::shared_ptr<Result> tied(const PlacementRequest& request);
void place_by_rules(Result& result);
inline std::shared_ptr<Result> place_simply(const PlacementRequest& request) {
  auto result = tied(request);
  place_by_rules(*result);
  return result;
}

}  // namespace emplace::placement
