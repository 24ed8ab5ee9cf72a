#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Kernels of variables that do no arithmetic: the same on every device whose memory the host can
// see. A ref is a scalar DT_RESOURCE tensor, as a resource handle is; both point at the Variable.
std::vector<KernelRow> variable_kernels(std::string_view device_type);

// ReadVariableOp. With `snapshot` the value gets memory of its own.
Prepared read_variable(bool snapshot);
// A ref that goes into a value input. The same, in a ref variable's words when it has no value.
Prepared deref(bool snapshot);

// How often an Assign with validate_shape = false took a variable out of the shape it was declared
// with, in this process: plans made before count on that shape.
uint64_t shapes_outgrown();

}  // namespace emplace
