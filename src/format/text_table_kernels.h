#pragma once
#include "kernel/kernel.h"

namespace emplace {

// Tables filled from the lines of a text file.
void register_text_table_kernels(KernelRegistry& r);

}  // namespace emplace
