#pragma once
#include "emplace/plan.h"
#include "placement/costs/source.h"
#include "session/session_impl.h"

namespace emplace {

// Rates of these devices and the links between them: from this process, else from the user's cache
// ($XDG_CACHE_HOME/emplace, $HOME/.cache/emplace), else measured now, in some tenths of a second a
// kind of device, and put there. Kinds name processor and threads, so that a cache which several
// machines share serves them all. A cache that can't be read or written is done without.
CostBook machine_rates(SharedParts parts, const DeviceKinds& kinds, const KernelRegistry& kernels);

// Where the cache is; "" where no folder is named.
std::string rates_cache_path();

// Measures, whatever is known.
DeviceRates measure_rates(const SharedParts& parts, const Device& device, const std::string& kind,
                          const KernelRegistry& kernels);
LinkRate measure_link(const SharedParts& parts, const Device& from, const Device& to,
                      const DeviceKinds& kinds, const KernelRegistry& kernels);

}  // namespace emplace
