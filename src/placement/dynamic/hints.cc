#include "placement/dynamic/hints.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "placement/place_error.h"

namespace emplace::placement {
namespace {

constexpr std::string_view kCost = "_placement_cost", kTogether = "_placement_together";

[[noreturn]] void refuse(const Node& node, std::string_view text) {
  throw attached(node, Code::kInvalidArgument,
                 fmt::format("'{}' in {} of node '{}' is no SECONDS or TYPE=SECONDS", text, kCost,
                             node.name()));
}

double seconds(const Node& node, std::string_view text, std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) ||
      value < 0)
    refuse(node, text);
  return value;
}

}  // namespace

std::optional<double> hinted_seconds(const Node& node, const DeviceInfo& device) {
  const AttrValue* hint = node.attr(kCost);
  if (!hint) return std::nullopt;
  if (!hint->is<std::vector<std::string>>()) refuse(node, hint->str());
  std::optional<double> any;
  for (const std::string_view text : hint->as<std::vector<std::string>>()) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) any = seconds(node, text, text);
    else if (const double s = seconds(node, text, text.substr(equals + 1));
             text.substr(0, equals) == device.type)
      return s;
  }
  return any;
}

const std::string* hinted_company(const Node& node) {
  const AttrValue* hint = node.attr(kTogether);
  return hint && hint->is<std::string>() ? &hint->as<std::string>() : nullptr;
}

}  // namespace emplace::placement
