#include "placement/result.h"

#include "placement/why.h"

namespace emplace::placement {

Result::Result(const PlacementRequest& request)
    : nodes(request.nodes.begin(), request.nodes.end()),
      placed_before(request.already_placed.begin(), request.already_placed.end()),
      context(request.devices, *request.oracle, request.options),
      groups(context, nodes, placed_before, request.options.function),
      device(nodes.size(), -1),
      reason(nodes.size(), Reason::kDefault),
      followed(nodes.size(), -1) {}

Result::~Result() = default;

PlacedNode Result::explain(size_t node) const {
  const std::lock_guard lock(explaining_);
  if (!why_) why_ = std::make_unique<Why>(*this);
  return why_->explain(static_cast<int>(node));
}

}  // namespace emplace::placement
