#pragma once
#include "kernel/kernel.h"

namespace emplace {

// to += from, element by element, in memory that `device` works in; same dtype and size.
// Unimplemented for dtypes that have no sum.
void add_elements(Device& device, Tensor& to, const Tensor& from);

}  // namespace emplace
