#pragma once
#include <span>

#include "op/op_def.h"

// Input pipelines: datasets and what goes through them.
namespace emplace::stdops {
std::span<const OpRow> dataset_source_ops();
std::span<const OpRow> dataset_ops();
std::span<const OpRow> iterator_ops();
}  // namespace emplace::stdops
