#pragma once
#include <memory>
#include <vector>

#include "device/device.h"
#include "emplace/session.h"
#include "placement/placer.h"
#include "session/pools.h"

namespace emplace {

// The placer that these options, or else EMPLACE_PLACER, name. Throws InvalidArgument on options
// that contradict each other or that it cannot serve.
std::unique_ptr<const Placer> session_placer(const SessionOptions& options);

// Whether that placer asks for costs.
bool weighs_costs(const SessionOptions& options);

// Gives `to` the options of `from` that say who places, and by what.
void take_placer(SessionOptions& to, const SessionOptions& from);

// Devices as placers see them.
std::vector<DeviceInfo> device_infos(const std::vector<std::shared_ptr<Device>>& devices,
                                     const Pools& pools);

}  // namespace emplace
