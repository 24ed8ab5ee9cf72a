#pragma once
#include "kernel/kernel.h"

namespace emplace::service {

// Kernels of datasets that a service runs.
void register_service_kernels(KernelRegistry& registry);

}  // namespace emplace::service
