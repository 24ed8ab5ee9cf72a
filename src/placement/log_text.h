#pragma once
#include <span>
#include <string>

#include "placement/placer.h"

namespace emplace {

// "Device mapping:\n<name> -> <description>\n…": devices that have a description; without any,
// "Device mapping: no known devices.\n".
std::string device_mapping(std::span<const DeviceInfo> devices);

// "MatMul: /job:localhost/replica:0/task:0/device:GPU:0"
std::string placement_line(const Node& node, std::string_view device);

}  // namespace emplace
