#pragma once
#include <memory>
#include <vector>

#include "device/device.h"
#include "emplace/session.h"
#include "kernel/kernel.h"
#include "session/pools.h"

namespace emplace {

// What the rest of the engine is put together from. Defined in all/, which knows every backend.

// Kernels of the device types that a session with these options sees.
const KernelRegistry& kernel_table(const SessionOptions& options);

// Who a process is that belongs to no cluster.
inline DeviceName local_task() { return DeviceName::of_task("localhost", 0, 0); }

// The devices that a session of `task` sees: CPUs first, then GPUs. Throws InvalidArgument on options
// that contradict each other or the machine.
std::vector<std::shared_ptr<Device>> make_devices(const SessionOptions& options,
                                                  const Pools& pools,
                                                  const DeviceName& task = local_task());

class Eager;
// An engine over devices and threads that others use too, with variables of its own.
std::unique_ptr<Eager> eager_over(const SessionOptions& options, const Pools& pools,
                                  std::shared_ptr<std::vector<std::shared_ptr<Device>>> devices);

}  // namespace emplace
