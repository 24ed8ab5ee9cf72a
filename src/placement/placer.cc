#include "placement/placer.h"

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
    case Reason::kCost:
      return "cost";
  }
  return "";
}

std::vector<PlacedNode> Placement::explain() const {
  std::vector<PlacedNode> all;
  for (size_t i = 0; i < devices.size(); ++i) all.push_back(explain(i));
  return all;
}

int Placer::place_call(const CallRequest& request) const {
  for (const Support& kernel : request.kernels)
    for (size_t i = 0; i < request.devices.size(); ++i) {
      const DeviceInfo& d = request.devices[i];
      if (d.type == kernel.type && request.wanted.is_specification_of(d.parsed))
        return static_cast<int>(i);
    }
  return -1;
}

}  // namespace emplace
