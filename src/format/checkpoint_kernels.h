#pragma once
#include "kernel/kernel.h"

namespace emplace {

// SaveV2, RestoreV2, MergeV2Checkpoints, ShardedFilename, ShardedFilespec, ReadFile, WriteFile.
void register_file_kernels(KernelRegistry& registry);

}  // namespace emplace
