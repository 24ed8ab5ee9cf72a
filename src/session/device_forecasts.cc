#include "session/device_forecasts.h"

#include <fmt/format.h>

#include <cmath>

#include "base/byte_size.h"

namespace emplace {
namespace {

constexpr size_t kHolders = 100;  // that are told
constexpr size_t kNamed = 3;      // in an error

DeviceForecast forecast_of(const CostGraph& g, size_t d, const PredictedStep::Device& step) {
  DeviceForecast out;
  out.device = g.devices[d].name;
  out.peak = std::llround(step.peak_bytes);
  out.kept = std::llround(step.kept_bytes);
  out.least = std::llround(step.least_bytes);
  if (step.least_node >= 0) out.least_node = g.nodes[step.least_node].name;
  if (g.devices[d].memory) out.limit = std::llround(*g.devices[d].memory);
  for (const auto& h : step.at_peak) {
    if (out.holders.size() == kHolders) break;
    out.holders.push_back({g.nodes[h.node].name, std::llround(h.bytes)});
  }
  return out;
}

}  // namespace

std::vector<DeviceForecast> device_forecasts(const CostGraph& g, const PredictedStep& step) {
  std::vector<DeviceForecast> out;
  for (size_t d = 0; d < g.devices.size(); ++d) out.push_back(forecast_of(g, d, step.devices[d]));
  return out;
}

std::string what_is_too_much(const std::vector<DeviceForecast>& devices) {
  for (const DeviceForecast& d : devices) {
    if (!d.limit || d.peak <= *d.limit) continue;
    std::string held;
    for (size_t k = 0; k < d.holders.size() && k < kNamed; ++k)
      held += fmt::format("{}{} ({})", k ? ", " : "", d.holders[k].node,
                          byte_size_text(double(d.holders[k].bytes)));
    return fmt::format("{} would hold {} of {}: {}", d.device, byte_size_text(double(d.peak)),
                       byte_size_text(double(*d.limit)), held);
  }
  return {};
}

}  // namespace emplace
