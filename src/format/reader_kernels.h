#pragma once
#include "kernel/kernel.h"

namespace emplace {

// Readers of TensorFlow 1: records of files whose names come from a queue; and bytes unpacked.
void register_reader_kernels(KernelRegistry& r);

}  // namespace emplace
