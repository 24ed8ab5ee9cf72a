#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// PyFunc, PyFuncStateless, EagerPyFunc: they hand their inputs to the function that
// set_host_function named, and take their outputs from it.
std::vector<KernelRow> host_function_kernels(std::string_view device_type);

}  // namespace emplace
