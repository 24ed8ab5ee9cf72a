#include "placement/request.h"

#include <fmt/format.h>

#include "placement/place_error.h"

namespace emplace {

int device_type_priority(std::string_view type) {
  return type == "GPU" ? 210 : type == "CPU" ? 60 : 50;
}

DeviceInfo device_info(std::string_view full_name, std::string description, bool local) {
  DeviceName name = DeviceName::parse(full_name);
  if (!name.is_complete()) {
    throw invalid_argument(fmt::format("'{}' is not the full name of a device", full_name));
  }
  const std::string type = *name.type;
  return {name.to_string(), std::move(name), type, device_type_priority(type), local,
          std::move(description)};
}

int assigned_device(const Node& node, std::string_view name, std::span<const DeviceInfo> devices) {
  const auto parsed = DeviceName::try_parse(name);
  if (!parsed) {
    throw placement::attached(node, Code::kInternal,
                              fmt::format("Malformed assigned device '{}'", name));
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].parsed == *parsed) return static_cast<int>(i);
  }
  std::string names;
  for (const DeviceInfo& d : devices) names += (names.empty() ? "" : ", ") + d.name;
  throw placement::attached(
      node, Code::kInternal,
      fmt::format("Assigned device '{}' does not match any device. Available devices: [{}]", name,
                  names));
}

}  // namespace emplace
