#include "placement/log_text.h"

#include "placement/node_index.h"
#include "placement/result.h"

namespace emplace {

std::string device_mapping(std::span<const DeviceInfo> devices) {
  std::string lines;
  for (const DeviceInfo& d : devices) {
    if (!d.description.empty()) lines += d.name + " -> " + d.description + "\n";
  }
  return lines.empty() ? "Device mapping: no known devices.\n" : "Device mapping:\n" + lines;
}

std::string placement_line(const Node& node, std::string_view device) {
  std::string line = node.name() + ": ";
  return line.append(device);
}

std::string Placement::log_text() const {
  std::string text;
  for (int i : placement::log_order(result_->nodes)) {
    if (result_->groups.placed_before(i) >= 0) continue;
    text += placement_line(*result_->nodes[i], info(i).name) + "\n";
  }
  return text;
}

}  // namespace emplace
