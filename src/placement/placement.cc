#include <fmt/format.h>

#include <algorithm>

#include "placement/placer.h"
#include "placement/result.h"
#include "placement/why.h"

namespace emplace {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string json_of(const PlacedNode& p, const std::string& device) {
  std::string rejected;
  for (const Rejected& r : p.rejected) {
    rejected += fmt::format("{}{{\"device\": {}, \"why\": {}}}", rejected.empty() ? "" : ", ",
                            quoted(r.device), quoted(r.why));
  }
  return fmt::format(
      "{{\"node\": {}, \"op\": {}, \"device\": {}, \"reason\": {}, \"detail\": {}, "
      "\"requested\": {}, \"source\": {}, \"rejected\": [{}]}}",
      quoted(p.node->name()), quoted(p.node->type()), quoted(device),
      quoted(reason_name(p.reason)), quoted(p.detail), quoted(p.node->device()),
      quoted(p.node->source()), rejected);
}

}  // namespace

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
  size_t name = 4, op = 2, place = 6;
  for (const PlacedNode& p : all) {
    name = std::max(name, p.node->name().size());
    op = std::max(op, p.node->type().size());
    place = std::max(place, result_->context.devices[p.device].name.size());
  }
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c,
                        std::string_view d) {
    return fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", a, name, b, op, c, place, d);
  };
  std::string out = line("node", "op", "device", "reason");
  for (const PlacedNode& p : all) {
    out += line(p.node->name(), p.node->type(), result_->context.devices[p.device].name, p.detail);
  }
  return out;
}

std::string Placement::to_json() const {
  std::string out;
  for (const PlacedNode& p : explain()) {
    out += (out.empty() ? "" : ",\n ") + json_of(p, result_->context.devices[p.device].name);
  }
  return "[" + out + "]\n";
}

}  // namespace emplace
