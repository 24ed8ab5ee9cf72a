#pragma once
#include <span>
#include <string>
#include <string_view>

#include "placement/placer.h"

namespace emplace {

// "Device mapping:\n<name> -> <description>\n…": devices that have a description; without any,
// "Device mapping: no known devices.\n".
std::string device_mapping(std::span<const DeviceInfo> devices);

// "MatMul: /job:localhost/replica:0/task:0/device:GPU:0"
std::string placement_line(const Node& node, std::string_view device);

// Placements for people: "node  op  device  reason", one line a node under a head, columns aligned.
struct TableLine {
  std::string_view node, op, device, reason;
};
std::string placement_table(std::span<const TableLine> lines);
std::string placement_table(std::span<const PlacedNode> nodes, std::span<const DeviceInfo> devices);

// One line for each node that was not placed before, in the order of log_order().
std::string placement_log(const PlacementRequest& request, std::span<const int> device_of);

}  // namespace emplace
