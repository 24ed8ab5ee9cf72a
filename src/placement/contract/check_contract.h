#pragma once
#include "base/device_name.h"
#include "emplace/contract.h"

namespace emplace {

// The device that a contract demands, which may be a partial name. Throws InvalidArgument where
// that is none.
DeviceName check_contract(const Contract& contract);

}  // namespace emplace
