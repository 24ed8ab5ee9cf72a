#pragma once
#include <memory>
#include <vector>

#include "device/device.h"
#include "emplace/session.h"
#include "placement/placer.h"

namespace emplace {

// The placer that these options, or else EMPLACE_PLACER, name. Throws InvalidArgument on options
// that contradict each other or that it cannot serve.
std::unique_ptr<const Placer> session_placer(const SessionOptions& options);

// Devices as placers see them.
std::vector<DeviceInfo> device_infos(const std::vector<std::shared_ptr<Device>>& devices);

}  // namespace emplace
