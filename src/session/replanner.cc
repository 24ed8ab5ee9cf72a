#include "session/replanner.h"

#include <fmt/format.h>

#include <chrono>

#include "graph/read_lock.h"
#include "placement/cost_source.h"
#include "placement/dynamic/cost_graph.h"
#include "session/move_variables.h"
#include "session/table_oracle.h"

namespace emplace {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(20);
constexpr int64_t kUsualSteps = 100;
constexpr double kWorthIt = 0.03;   // of a step
constexpr double kPlanningS = 0.1;  // what new plans and first steps take
constexpr double kBytesPerS = 4e9;  // of a move through the host's memory

}  // namespace

void Replanner::count(PlanFamily& family) {
  const int64_t steps = due(family);
  if (steps == 0) return;
  const std::unique_lock alone(gate_, kPatience);
  if (alone) look(family, steps);
}

// After N steps of one kind, after 2 N, 4 N …; a look that found others at work counts as well.
int64_t Replanner::due(const PlanFamily& family) {
  const std::lock_guard lock(mutex_);
  if (moves_ >= kMostMoves || looks_ >= kMostLooks) return 0;
  if (counts_.size() >= Session::Impl::kMaxFamilies) counts_.clear();
  const int asked = s_.options.replan_after_steps;
  Count& c = counts_.try_emplace(&family, Count{0, asked > 0 ? asked : kUsualSteps}).first->second;
  if (c.steps++ < c.next) return 0;
  c.next = 2 * (c.steps - 1);
  ++looks_;
  return c.steps - 1;
}

void Replanner::look(PlanFamily& family, int64_t steps) {
  std::optional<Change> change = better(family, steps);
  if (!change) return;
  forget_plans();
  if (!move(std::move(*change), steps)) return;
  s_.write_waiting_log();
  const std::lock_guard lock(mutex_);
  ++moves_;
}

// Where everything would go now, with nothing placed but what never had a choice; null: it stays.
std::optional<Replanner::Change> Replanner::better(const PlanFamily& family, int64_t steps) {
  const ReadLock reading(s_.graph.mutex());
  const std::lock_guard lock(s_.place_mutex);
  if (s_.is_closed) return std::nullopt;
  Change c;
  std::vector<int> now, given;
  for (Node* node : s_.graph.nodes()) {
    const auto id = static_cast<size_t>(node->id());
    if (id >= s_.assigned.size() || s_.assigned[id] < 0) continue;  // comes with a later run
    c.nodes.push_back(node);
    now.push_back(s_.assigned[id]);
    given.push_back(id < s_.given.size() ? s_.given[id] : -1);
  }
  const TableOracle oracle(s_.kernels, s_.device_infos);
  const std::shared_ptr<const CostSource> costs = s_.weighed_costs();
  const Signature& signature = family.signature;
  const std::vector<int> feed_devices = s_.indices(signature.feed_devices);
  PlacementRequest request{c.nodes, s_.device_infos, &oracle, s_.placement_options(), given};
  request.options.default_local_device = s_.local_device;
  request.costs = costs.get();
  request.run = {signature.feeds, signature.fetches, signature.targets, feed_devices,
                 signature.stay};
  try {
    const std::optional<StepForecast> before = s_.placer->forecast(request, now);
    if (!before) return std::nullopt;
    c.placement = s_.placer->place(request);
    c.before_s = before->step_s;
    c.spread_s = before->spread_s;
  } catch (const Error&) {  // what runs, runs on
    return std::nullopt;
  }
  c.to = c.placement.devices;
  if (!pays(c, steps)) return std::nullopt;
  return c;
}

bool Replanner::pays(const Change& change, int64_t steps) const {
  const double gain = change.before_s - change.placement.step_s;
  if (gain <= std::max(change.spread_s, kWorthIt * change.before_s)) return false;
  double bytes = 0;
  for (size_t i = 0; i < change.nodes.size(); ++i)
    if (is_variable(*change.nodes[i]) &&
        s_.assigned[static_cast<size_t>(change.nodes[i]->id())] != change.to[i])
      bytes += placement::kept_bytes(*change.nodes[i]);
  // A program that ran so long runs as long again.
  return gain * static_cast<double>(steps) > kPlanningS + bytes / kBytesPerS;
}

// All are copied before the first one is put in place: a device may have no room.
double Replanner::move_variables(const Change& change) {
  std::vector<MovingVariable> moving;
  for (size_t i = 0; i < change.nodes.size(); ++i)
    if (auto m = copy_variable(s_.resources, *change.nodes[i], (*s_.devices)[change.to[i]].get()))
      moving.push_back(std::move(*m));
  double bytes = 0;
  for (const MovingVariable& m : moving) {
    put_in_place(s_.resources, m);
    bytes += m.bytes;
  }
  return bytes;
}

bool Replanner::move(Change change, int64_t steps) {
  const std::lock_guard lock(s_.place_mutex);
  if (s_.is_closed) return false;
  double bytes;
  try {
    bytes = move_variables(change);
  } catch (const Error&) {
    return false;
  }
  int moved = 0;
  const int round = static_cast<int>(s_.placements.size());
  for (size_t i = 0; i < change.nodes.size(); ++i) {
    const auto id = static_cast<size_t>(change.nodes[i]->id());
    moved += s_.assigned[id] != change.to[i];
    s_.assigned[id] = change.to[i];
    s_.explained_by[id] = {round, static_cast<int>(i)};
  }
  s_.told.clear();
  if (s_.options.log_device_placement)
    s_.log_waiting += fmt::format(
        "Placed again after {} steps: {} of {} nodes move, with {:.1f} MiB of variables; a step takes "
        "{:.3g} ms instead of {:.3g} ms (±{:.2g})\n",
        steps, moved, change.nodes.size(), bytes / (1 << 20), change.placement.step_s * 1e3,
        change.before_s * 1e3, change.spread_s * 1e3);
  s_.placements.push_back(std::move(change.placement));
  return true;
}

// No step is under way: plans are made anew by the next ones.
void Replanner::forget_plans() {
  const std::lock_guard lock(s_.families_mutex);
  for (const auto& [key, family] : s_.families) {
    const std::lock_guard plans(family->mutex);
    family->programs.clear();
  }
}

}  // namespace emplace
