#include "placement/log_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "placement/node_index.h"

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

std::string placement_table(std::span<const TableLine> lines) {
  const TableLine head{"node", "op", "device", "reason"};
  size_t node = head.node.size(), op = head.op.size(), device = head.device.size();
  for (const TableLine& l : lines) {
    node = std::max(node, l.node.size());
    op = std::max(op, l.op.size());
    device = std::max(device, l.device.size());
  }
  std::string out;
  const auto add = [&](const TableLine& l) {
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", l.node, node, l.op, op, l.device, device,
                       l.reason);
  };
  add(head);
  for (const TableLine& l : lines) add(l);
  return out;
}

std::string placement_table(std::span<const PlacedNode> nodes,
                            std::span<const DeviceInfo> devices) {
  std::vector<TableLine> lines;
  for (const PlacedNode& p : nodes)
    lines.push_back({p.node->name(), p.node->type(), devices[static_cast<size_t>(p.device)].name,
                     p.detail});
  return placement_table(lines);
}

std::string placement_log(const PlacementRequest& request, std::span<const int> device_of) {
  std::string text;
  for (const int i : placement::log_order(request.nodes)) {
    const auto node = static_cast<size_t>(i);
    if (!request.already_placed.empty() && request.already_placed[node] >= 0) continue;
    const DeviceInfo& device = request.devices[static_cast<size_t>(device_of[node])];
    text += placement_line(*request.nodes[node], device.name) + "\n";
  }
  return text;
}

}  // namespace emplace
