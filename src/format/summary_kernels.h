#pragma once
#include <span>
#include <string>

#include "kernel/kernel.h"

namespace emplace {

// The message of a histogram as event files hold it. Buckets grow by a tenth, on both sides of
// zero, as TensorFlow's do. Infinite or undefined values: InvalidArgument.
std::string histogram_message(const std::string& tag, std::span<const double> values);

// ScalarSummary, HistogramSummary, MergeSummary.
void register_summary_kernels(KernelRegistry& registry);

}  // namespace emplace
