#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "device/device.h"
#include "emplace/error.h"
#include "kernel/resources.h"

namespace emplace {

// Limits the memory of the device of that name among `devices` ("": the host's), see LimitedMemory.
void limit_memory(std::span<const std::shared_ptr<Device>> devices, std::string_view name, int64_t bytes);

// Gives back what nobody uses, of these devices and the host; returns bytes.
int64_t trim_memory(std::span<const std::shared_ptr<Device>> devices);

// Where `error` says that the host's memory, limited, is used up: who holds how much of it.
void tell_host_holders(Error& error, const ResourceManager& resources);

}  // namespace emplace
