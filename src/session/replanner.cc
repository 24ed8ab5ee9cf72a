#include "session/replanner.h"

#include <fmt/format.h>

#include <algorithm>
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
constexpr int64_t kTrialSteps = 2 * StepTimes::kEnough;
constexpr double kMostSlower = 2;  // than now a placement may look that is tried

}  // namespace

void Replanner::count(PlanFamily& family) {
  const int64_t steps = due(family);
  if (steps == 0) return;
  const std::unique_lock alone(gate_, kPatience);
  if (alone) look(family, steps);
}

void Replanner::ran(const PlanFamily& family, double seconds) {
  const std::lock_guard lock(mutex_);
  if (const auto it = counts_.find(&family); it != counts_.end())
    it->second.times.add(s_.told_step_s ? s_.told_step_s() : seconds);
}

// After N steps of one kind, after 2 N, 4 N …; a look that found others at work counts as well.
// What was moved is looked at sooner.
int64_t Replanner::due(const PlanFamily& family) {
  const std::lock_guard lock(mutex_);
  if (!unjudged_ && (moves_ >= kMostMoves || looks_ >= kMostLooks)) return 0;
  if (counts_.size() >= Session::Impl::kMaxFamilies) counts_.clear();
  const int asked = s_.options.replan_after_steps;
  Count& c =
      counts_.try_emplace(&family, Count{0, asked > 0 ? asked : kUsualSteps, {}}).first->second;
  if (c.steps++ < c.next) return 0;
  c.next = 2 * (c.steps - 1);
  ++looks_;
  return c.steps - 1;
}

void Replanner::look(PlanFamily& family, int64_t steps) {
  std::optional<Change> change = back(family);
  if (!change && moves_ < kMostMoves) change = better(family, steps);
  if (!change) return;
  const bool new_one = change->former < 0;
  remember(family);
  forget_plans();
  if (!move(std::move(*change), steps)) return;
  s_.write_waiting_log();
  const std::lock_guard lock(mutex_);
  moves_ = new_one ? moves_ + 1 : kMostMoves;
  unjudged_ = new_one;
  for (auto& [of, count] : counts_) count.times = {};
  if (const auto c = counts_.find(&family); c != counts_.end())
    c->second.next = std::min(c->second.next, c->second.steps + kTrialSteps);
}

StepTimes Replanner::times(const PlanFamily& family) {
  const std::lock_guard lock(mutex_);
  const auto c = counts_.find(&family);
  return c == counts_.end() ? StepTimes() : c->second.times;
}

// To the former placement that was fastest, where the last move turns out to have been none to the
// better.
std::optional<Replanner::Change> Replanner::back(const PlanFamily& family) {
  const StepTimes now = times(family);
  if (tried_.empty() || !now.enough()) return std::nullopt;
  int best = -1;
  for (int k = 0; k < static_cast<int>(tried_.size()); ++k)
    if (tried_[k].family == &family && tried_[k].times.enough() &&
        (best < 0 || tried_[k].times.median() < tried_[best].times.median()))
      best = k;
  {
    const std::lock_guard lock(mutex_);
    unjudged_ = false;
  }
  if (best < 0) return std::nullopt;
  const Tried& former = tried_[best];
  const bool slower = now.slower_than(former.times);
  {
    const std::lock_guard lock(s_.place_mutex);
    s_.measured_steps = fmt::format(
        "measured: a step takes {:.3g} ms, {:.3g} ms as placed otherwise",
        1e3 * (slower ? former.times : now).median(), 1e3 * (slower ? now : former.times).median());
  }
  if (!slower) return std::nullopt;
  const ReadLock reading(s_.graph.mutex());
  Change c;
  c.former = best;
  c.before_s = now.median();
  c.placement.step_s = former.times.median();
  for (Node* node : s_.graph.nodes()) {
    const auto id = static_cast<size_t>(node->id());
    if (id >= former.assigned.size() || former.assigned[id] < 0) continue;  // came later: it stays
    c.nodes.push_back(node);
    c.to.push_back(former.assigned[id]);
  }
  return c;
}

std::optional<Replanner::Change> Replanner::better(const PlanFamily& family, int64_t steps) {
  const StepTimes now = times(family);
  std::optional<Change> c = change_to(family, false);
  if (c && pays(*c, steps) && !was_tried(family, *c)) return c;
  c = now.enough() ? change_to(family, true) : std::nullopt;
  if (c && worth_trying(*c, steps, now) && !was_tried(family, *c)) return c;
  return std::nullopt;
}

// Where everything would go now, with nothing placed but what never had a choice; null: it stays.
// `alone`: without a search, on one device wherever that can be.
std::optional<Replanner::Change> Replanner::change_to(const PlanFamily& family, bool alone) {
  const ReadLock reading(s_.graph.mutex());
  const std::lock_guard lock(s_.place_mutex);
  if (s_.is_closed) return std::nullopt;
  Change c;
  c.alone = alone;
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
  request.options.one_device = alone;
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
  return c;
}

bool Replanner::pays(const Change& change, int64_t steps) const {
  const double gain = change.before_s - change.placement.step_s;
  if (gain <= std::max(change.spread_s, kWorthIt * change.before_s)) return false;
  // A program that ran so long runs as long again.
  return gain * static_cast<double>(steps) > kPlanningS + bytes_moved(change) / kBytesPerS;
}

// What one device takes is known best: some steps on it, if they are not too dear.
bool Replanner::worth_trying(const Change& change, int64_t steps, const StepTimes& now) const {
  const double slower = change.placement.step_s / std::max(change.before_s, 1e-9);
  if (slower > kMostSlower) return false;
  const double usual = now.median(), lost = std::max(0.0, slower - 1) * usual * kTrialSteps;
  return lost + kPlanningS + 2 * bytes_moved(change) / kBytesPerS <
         usual * static_cast<double>(steps);
}

double Replanner::bytes_moved(const Change& change) const {
  double bytes = 0;
  for (size_t i = 0; i < change.nodes.size(); ++i)
    if (is_variable(*change.nodes[i]) &&
        s_.assigned[static_cast<size_t>(change.nodes[i]->id())] != change.to[i])
      bytes += placement::kept_bytes(*change.nodes[i]);
  return bytes;
}

// … or is it so now?
bool Replanner::was_tried(const PlanFamily& family, const Change& change) const {
  const auto same = [&](const std::vector<int>& assigned) {
    for (size_t i = 0; i < change.nodes.size(); ++i) {
      const auto id = static_cast<size_t>(change.nodes[i]->id());
      if (id >= assigned.size() || assigned[id] != change.to[i]) return false;
    }
    return true;
  };
  return same(s_.assigned) || std::ranges::any_of(tried_, [&](const Tried& t) {
           return t.family == &family && same(t.assigned);
         });
}

void Replanner::remember(const PlanFamily& family) {
  const std::lock_guard lock(s_.place_mutex);
  tried_.push_back({&family, s_.assigned, s_.explained_by, s_.told, times(family)});
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
    s_.explained_by[id] = change.former < 0 ? std::pair(round, static_cast<int>(i))
                                            : tried_[change.former].explained_by[id];
  }
  if (change.former < 0)
    s_.told.clear();
  else
    s_.told = tried_[change.former].told;
  if (s_.options.log_device_placement) log(change, steps, moved, bytes);
  if (change.former < 0) s_.placements.push_back(std::move(change.placement));
  return true;
}

void Replanner::log(const Change& c, int64_t steps, int moved, double bytes) {
  const char* const how = c.former >= 0 ? "Placed back"
                          : c.alone     ? "Placed on one device to see"
                                        : "Placed again";
  s_.log_waiting += fmt::format(
      "{} after {} steps: {} of {} nodes move, with {:.1f} MiB of variables; a step {} {:.3g} ms "
      "instead "
      "of {:.3g} ms",
      how, steps, moved, c.nodes.size(), bytes / (1 << 20), c.former >= 0 ? "took" : "takes",
      c.placement.step_s * 1e3, c.before_s * 1e3);
  if (c.former < 0) s_.log_waiting += fmt::format(" (±{:.2g})", c.spread_s * 1e3);
  s_.log_waiting += '\n';
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
