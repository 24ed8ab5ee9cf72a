#pragma once
#include "kernel/kernel.h"

namespace emplace {

// Examples as bytes, taken apart.
void register_parse_kernels(KernelRegistry& r);
// … those of examples with lists over time; the one above adds them too.
void register_sequence_parse_kernels(KernelRegistry& r);

}  // namespace emplace
