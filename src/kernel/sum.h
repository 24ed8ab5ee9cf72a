#pragma once
#include "kernel/kernel.h"

namespace emplace {

// to += from, element by element; same dtype and size. Unimplemented for dtypes that have no sum.
void add_elements(Tensor& to, const Tensor& from);

}  // namespace emplace
