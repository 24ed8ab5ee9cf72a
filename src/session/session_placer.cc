#include "session/session_placer.h"

#include <cstdlib>

#include "base/cpu_info.h"

namespace emplace {
namespace {

std::string placer_name(const SessionOptions& options) {
  if (!options.placer.empty()) return options.placer;
  const char* text = std::getenv("EMPLACE_PLACER");
  return text && *text ? text : "simple";
}

void check(const SessionOptions& o) {
  if (o.placer_budget_ms < 0 || o.placer_evaluations < 0)
    throw invalid_argument("placer_budget_ms and placer_evaluations must not be negative");
}

// CPUs, and virtual GPUs, whose kernels the host's cores run.
bool runs_on_host(const Device& d) {
  return d.type() == "CPU" || d.description().find("Virtual") != std::string::npos;
}

}  // namespace

std::unique_ptr<const Placer> session_placer(const SessionOptions& options) {
  check(options);
  return make_placer(placer_name(options));
}

void take_placer(SessionOptions& to, const SessionOptions& from) {
  to.placer = from.placer;
  to.placer_budget_ms = from.placer_budget_ms;
  to.placer_evaluations = from.placer_evaluations;
  to.placer_seed = from.placer_seed;
  to.measure_costs = from.measure_costs;
  to.costs = from.costs;
  to.save_costs = from.save_costs;
  to.replan_after_steps = from.replan_after_steps;
}

bool weighs_costs(const SessionOptions& options) { return placer_name(options) == "dynamic"; }

std::vector<DeviceInfo> device_infos(const std::vector<std::shared_ptr<Device>>& devices,
                                     const Pools& pools) {
  std::vector<DeviceInfo> infos;
  for (const auto& d : devices) {
    infos.push_back(device_info(d->name(), d->description()));
    // What a CPU says of its memory is a custom, not a limit.
    DeviceInfo& info = infos.back();
    if (d->type() == "CPU") info.slots = pools.inter_op.front().workers;
    else info.memory = static_cast<double>(d->memory_limit());
    if (!runs_on_host(*d)) continue;
    info.pool = "host";
    info.pool_cores = num_usable_cores();
  }
  return infos;
}

}  // namespace emplace
