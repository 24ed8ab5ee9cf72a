#pragma once
#include <span>

#include "op/op_def.h"

namespace emplace::stdops {

std::span<const OpRow> nets_ops();
std::span<const OpRow> convolution_ops();
std::span<const OpRow> pooling_ops();
std::span<const OpRow> normalization_ops();
std::span<const OpRow> image_ops();
std::span<const OpRow> scatter_ops();
std::span<const OpRow> optimizer_ops();
std::span<const OpRow> more_optimizer_ops();
std::span<const OpRow> candidate_ops();

}  // namespace emplace::stdops
