#include "placement/log_text.h"
#include "placement/placer.h"
#include "placement/result.h"
#include "placement/why.h"

namespace emplace {
std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::kAlreadyPlaced:
      return "already placed";
    case Reason::kPinned:
      return "pinned";
    case Reason::kColocated:
      return "colocated";
    case Reason::kFollowsConsumer:
      return "follows consumer";
    case Reason::kFollowsInput:
      return "follows input";
    case Reason::kDefault:
      return "default";
    case Reason::kSoft:
      return "soft placement";
  }
  return "";
}

namespace placement {

Result::Result(std::span<Node* const> given, std::span<const DeviceInfo> devices,
               const KernelOracle& oracle, const PlacementOptions& options,
               std::span<const int> already_placed)
    : nodes(given.begin(), given.end()),
      placed_before(already_placed.begin(), already_placed.end()),
      context(devices, oracle, options),
      groups(context, nodes, placed_before, options.function),
      device(nodes.size(), -1),
      reason(nodes.size(), Reason::kDefault),
      followed(nodes.size(), -1) {}

Result::~Result() = default;

}  // namespace placement

Placement::Placement(std::shared_ptr<const placement::Result> result)
    : result_(std::move(result)) {}

size_t Placement::size() const { return result_->nodes.size(); }

std::span<const int> Placement::devices() const { return result_->device; }

const DeviceInfo& Placement::info(size_t node) const {
  return result_->context.devices[device(node)];
}

Reason Placement::reason(size_t node) const { return explain(node).reason; }

PlacedNode Placement::explain(size_t node) const {
  const std::lock_guard lock(result_->explaining);
  if (!result_->why) result_->why = std::make_unique<placement::Why>(*result_);
  return result_->why->explain(static_cast<int>(node));
}

std::vector<PlacedNode> Placement::explain() const {
  std::vector<PlacedNode> all;
  for (size_t i = 0; i < size(); ++i) all.push_back(explain(i));
  return all;
}

const std::vector<std::string>& Placement::notes() const { return result_->context.notes; }

std::string Placement::table() const {
  const std::vector<PlacedNode> all = explain();
  std::vector<TableLine> lines;
  for (const PlacedNode& p : all)
    lines.push_back({p.node->name(), p.node->type(), result_->context.devices[p.device].name,
                     p.detail});
  return placement_table(lines);
}

}  // namespace emplace
