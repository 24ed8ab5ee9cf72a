#pragma once
#include <span>

#include "op/op_def.h"

namespace emplace {

// Every op of the catalogue.
void register_all_ops(OpRegistry& registry);

// Its families.
namespace stdops {
std::span<const OpRow> basic_ops();
std::span<const OpRow> state_ops();
std::span<const OpRow> unary_ops();
std::span<const OpRow> binary_ops();
std::span<const OpRow> gradient_ops();
std::span<const OpRow> reduction_ops();
std::span<const OpRow> scan_ops();
std::span<const OpRow> shape_ops();
std::span<const OpRow> fill_ops();
std::span<const OpRow> join_ops();
std::span<const OpRow> slice_ops();
std::span<const OpRow> arrange_ops();
std::span<const OpRow> spread_ops();
std::span<const OpRow> blocks_ops();
std::span<const OpRow> linalg_ops();
std::span<const OpRow> random_ops();
std::span<const OpRow> file_ops();
std::span<const OpRow> flow_ops();
std::span<const OpRow> list_ops();
std::span<const OpRow> step_array_ops();
std::span<const OpRow> queue_ops();
std::span<const OpRow> decompose_ops();
std::span<const OpRow> text_ops();
std::span<const OpRow> misc_ops();
std::span<const OpRow> distribution_ops();
}  // namespace stdops

}  // namespace emplace
