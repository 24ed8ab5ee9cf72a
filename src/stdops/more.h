#pragma once
#include <span>

#include "op/op_def.h"

// Families that models from elsewhere bring along.
namespace emplace::stdops {

constexpr int64_t kAny = Shape::kUnknown;  // a dimension of any size

std::span<const OpRow> lookup_ops();
std::span<const OpRow> spectral_ops();
std::span<const OpRow> sparse_ops();
std::span<const OpRow> ragged_ops();
std::span<const OpRow> quantize_ops();
std::span<const OpRow> picture_ops();
std::span<const OpRow> picture_file_ops();
std::span<const OpRow> sound_ops();
std::span<const OpRow> parse_ops();
std::span<const OpRow> sequence_ops();
std::span<const OpRow> staging_ops();
std::span<const OpRow> collective_ops();
// After all others, whose rules they share.
void register_old_ops(OpRegistry& registry);

}  // namespace emplace::stdops
