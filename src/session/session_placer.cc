#include "session/session_placer.h"

#include <algorithm>
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

// "…, pci bus id: 0000:01:00.0": the card.
std::string bus_of(std::string_view description) {
  const size_t at = description.find("pci bus id: ");
  return at == std::string_view::npos ? "" : std::string(description.substr(at));
}

int64_t logical_cards(const std::vector<std::shared_ptr<Device>>& devices, const std::string& bus) {
  return bus.empty() ? 0 : std::ranges::count_if(devices, [&](const auto& d) {
    return bus_of(d->description()) == bus;
  });
}

// How many cores a set of them has; 0: all threads work for the device.
int cores_of_set(Device& d, const Pools& pools) {
  return d.type() != "CPU" || &d.intra_op() == pools.intra_op.get() ? 0 : d.intra_op().size() + 1;
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
    info.records = d->can_record();
    const int set = cores_of_set(*d, pools);
    if (d->type() == "CPU")
      info.slots = set > 0 ? set : pools.inter_op.front().workers;
    else info.memory = static_cast<double>(d->memory_limit());
    if (runs_on_host(*d)) {
      info.pool = "host";
      info.pool_cores = num_usable_cores();
      info.most_cores = set;
    } else if (logical_cards(devices, bus_of(d->description())) > 1) {
      info.pool = bus_of(d->description());
      info.pool_cores = 1;  // together they are as fast as one
    }
  }
  return infos;
}

}  // namespace emplace
