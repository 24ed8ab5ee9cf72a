#include "session/session_placer.h"

#include <cstdlib>

namespace emplace {
namespace {

std::string placer_name(const SessionOptions& options) {
  if (!options.placer.empty()) return options.placer;
  const char* text = std::getenv("EMPLACE_PLACER");
  return text && *text ? text : "simple";
}

void check(const SessionOptions& o) {
  if (o.placer_budget_ms < 0 || o.placer_evaluations < 0 || o.replan_after_steps < 0)
    throw invalid_argument(
        "placer_budget_ms, placer_evaluations and replan_after_steps must not be negative");
  if (o.measure_costs || !o.costs.empty() || !o.save_costs.empty() || o.replan_after_steps > 0)
    throw unimplemented(
        "measure_costs, costs, save_costs and replan_after_steps need a placer that weighs costs, "
        "which there is none of yet");
}

}  // namespace

std::unique_ptr<const Placer> session_placer(const SessionOptions& options) {
  check(options);
  return make_placer(placer_name(options));
}

std::vector<DeviceInfo> device_infos(const std::vector<std::shared_ptr<Device>>& devices) {
  std::vector<DeviceInfo> infos;
  for (const auto& d : devices) {
    infos.push_back(device_info(d->name(), d->description()));
    // What a CPU says of its memory is a custom, not a limit.
    if (d->type() != "CPU") infos.back().memory = static_cast<double>(d->memory_limit());
  }
  return infos;
}

}  // namespace emplace
