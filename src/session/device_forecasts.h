#pragma once
#include <vector>

#include "emplace/plan.h"
#include "emplace/session.h"

namespace emplace {

// What a predicted step says of memory, for users. One for each device of the graph.
std::vector<DeviceForecast> device_forecasts(const CostGraph& graph, const PredictedStep& step);

// "GPU:0 holds 9.0 GiB of 8.0 GiB, most of it …" of the first device that holds too much; else "".
std::string what_is_too_much(const std::vector<DeviceForecast>& devices);

}  // namespace emplace
