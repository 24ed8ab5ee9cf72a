#include "session/absent_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {

std::vector<DeviceInfo> absent_devices(std::span<const std::string> names) {
  std::vector<DeviceInfo> devices;
  for (const std::string& name : names) {
    DeviceName parsed = DeviceName::try_parse_local(name).value_or(DeviceName{});
    if (parsed.empty()) parsed = DeviceName::parse(name);
    if (!parsed.type || !parsed.id)
      throw invalid_argument(
          fmt::format("'{}' does not name a device: a type and a number are needed (GPU:0)", name));
    parsed.merge_unset(DeviceName::of_task("localhost", 0, 0));
    DeviceInfo d = device_info(parsed.to_string());
    d.local = devices.empty() || d.parsed.same_address_space(devices.front().parsed);
    if (std::ranges::any_of(devices, [&](const DeviceInfo& o) { return o.name == d.name; }))
      throw invalid_argument(fmt::format("Device '{}' is named twice", d.name));
    devices.push_back(std::move(d));
  }
  return devices;
}

}  // namespace emplace
