#include "placement/dynamic/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <optional>

#include "emplace/error.h"
#include "placement/dynamic/spread.h"
#include "placement/dynamic/step_islands.h"
#include "placement/search/list_bounds.h"
#include "placement/search/simulate_list.h"

namespace emplace::placement {
namespace {

using planning::ListSimulation;
using planning::Problem;

constexpr double kWorthIt = 0.03;     // of a step: less does not matter
constexpr double kPredicted = 0.1;    // how far off predicted steps usually are, costs being right
constexpr double kCareful = 2;        // so many spreads longer a node may take elsewhere,
constexpr double kCarefulLink = 2;    // and so many times as long a copy
constexpr double kStepsToSpend = 20;  // that a search may last, unless told
constexpr double kLeastMs = 2, kMostMs = 1000;
constexpr double kUsable = 0.97;      // of a device's memory: the rest is lost between tensors
constexpr int kRounds = 4;
constexpr double kLeastShare = 0.05;
constexpr double kNoMore = 1e300, kAbout = 1 + 1e-9;
constexpr double kMoreCareful = 1.5;  // a larger share of what lives for a while is counted

class Chooser {
 public:
  Chooser(const StepCosts& step, const std::vector<int>& simple, const PlanOptions& options,
          bool alone)
      : step_(step), simple_(simple), options_(options), alone_(alone), graph_(step.graph) {
    limited_ = std::ranges::any_of(graph_.devices, [](const auto& d) { return d.memory.has_value(); });
  }

  // With room for the largest variable's first value, which is there besides for a while; if that
  // can't be, without.
  Choice run() {
    double largest = 0;
    for (const CostNode& n : graph_.nodes)
      if (n.op != "Const") largest = std::max(largest, n.memory);
    leave_room(limited_ ? largest : 0);
    try {
      return within_room();
    } catch (const Error& e) {
      if (!limited_ || e.code() != Code::kResourceExhausted) throw;
    }
    leave_room(0);
    return within_room();
  }

 private:
  void leave_room(double bytes) {
    for (size_t d = 0; d < graph_.devices.size(); ++d)
      if (const auto& memory = step_.graph.devices[d].memory)
        graph_.devices[d].memory = std::max(0.0, *memory * kUsable - bytes);
  }

  // All that is made in a step is never held at once: of outputs only a share counts, more if the
  // schedule turns out to hold more. Sizes may be guesses: what they ask for is no reason to refuse.
  Choice within_room() {
    std::optional<Choice> last;
    double share = limited_ ? first_share() : 0;
    for (int round = 0; round < kRounds; ++round) {
      std::optional<Choice> next = with_room(share);
      if (!next) break;
      last = std::move(next);
      if (!limited_ || holds(*last)) return alone_or_apart(std::move(*last));
      if (share >= 1) break;
      share = std::min(1.0, std::max(share, kLeastShare) * kMoreCareful);
    }
    count_outputs(0);
    if (std::optional<Choice> apart = spread_out()) return *apart;
    return last ? *last : best();
  }

  // Where no device has room for all, devices are full, and a search finds hardly more than plans
  // that copy variables around: then a spread of the variables is worth looking at.
  Choice alone_or_apart(Choice found) const {
    const Problem p(graph_);
    bool alone = !limited_;
    for (size_t d = 0; d < graph_.devices.size() && !alone; ++d)
      alone = step_.liking[d] == std::ranges::max(step_.liking) &&
              fits(p, all_on(p, static_cast<int>(d)));
    if (alone) return found;
    std::optional<Choice> apart = spread_out();
    if (!apart) return found;
    const double full = filling(found);
    if ((full <= 1 || filling(*apart) >= full) && apart->step_s > found.step_s * (1 + kWorthIt)) return found;
    apart->bound_s = found.bound_s;
    return *apart;
  }

  std::optional<Choice> with_room(double share) {
    count_outputs(share);
    try {
      return best();
    } catch (const Error& e) {
      if (e.code() != Code::kResourceExhausted) throw;
      return std::nullopt;
    }
  }

  // Of all outputs, those that the simple placer's step holds at its peaks.
  double first_share() const {
    if (step_.transient_bytes <= 0) return 0;
    CostGraph free = step_.graph;
    for (CostDevice& d : free.devices) d.memory.reset();
    double held = 0;
    Plan plan;
    plan.device = simple_;
    for (const PredictedStep::Device& d : predict(free, plan).devices)
      held += d.peak_bytes - d.kept_bytes;
    return std::min(1.0, held / step_.transient_bytes);
  }

  void count_outputs(double share) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      graph_.nodes[i].memory = step_.graph.nodes[i].memory + std::floor(share * step_.outputs[i]);
  }

  // Where it hardly matters, nodes stay on devices of the type that is liked best, as the simple
  // placer has it: what is estimated of small things is not worth spreading them.
  Choice best() const {
    Choice found = search(graph_);
    const CostGraph liked = only_liked();
    if (std::ranges::all_of(found.device, [&, i = 0](int d) mutable { return may(liked, i++, d); }))
      return found;
    try {
      Choice other = search(liked);
      other.bound_s = found.bound_s;
      if (other.step_s <= found.step_s * (1 + kWorthIt)) return other;
    } catch (const Error& e) {
      if (e.code() != Code::kResourceExhausted) throw;
    }
    return found;
  }

  // A spread that holds, over devices of the type that is liked best: over as many as cost hardly
  // more than fewer, since other steps need room as well; that which fills all variables must have it
  // where that can be.
  std::optional<Choice> spread_out() const {
    const int most = std::ranges::max(step_.liking);
    std::vector<int> devices;
    for (size_t d = 0; d < step_.liking.size(); ++d)
      if (step_.liking[d] == most) devices.push_back(static_cast<int>(d));
    double kept = 0;
    for (const CostNode& n : graph_.nodes) kept += n.memory;
    std::vector<Choice> found;
    for (size_t parts = devices.size(); parts >= 2; --parts)
      for (const double slack : {1.0, 1.1, 1.3})
        if (auto c = spread_over(parts, devices, slack * kept / static_cast<double>(parts)))
          found.push_back(std::move(*c));
    if (found.empty()) return std::nullopt;
    double least = kNoMore;
    for (const Choice& c : found) least = std::min(least, filling(c));
    std::erase_if(found, [&](const Choice& c) { return filling(c) > std::max(1.0, least * kAbout); });
    const double best = std::ranges::min(found, {}, &Choice::step_s).step_s;
    return *std::ranges::find_if(
        found, [&](const Choice& c) { return c.step_s <= best * (1 + kWorthIt); });
  }

  // What variables need of the fullest device's memory, 1 being all of it, while they are filled: first
  // values may all be there beside those that they go to.
  double filling(const Choice& c) const {
    std::vector<double> kept(graph_.devices.size(), 0);
    for (size_t i = 0; i < c.device.size(); ++i) kept[c.device[i]] += step_.graph.nodes[i].memory;
    double most = 0;
    for (size_t d = 0; d < kept.size(); ++d)
      if (const auto& memory = graph_.devices[d].memory)
        most = std::max(most, 2 * kept[d] / std::max(1.0, *memory));
    return most;
  }

  std::optional<Choice> spread_over(size_t parts, const std::vector<int>& devices,
                                    double bytes) const {
    const Problem p(graph_);
    ListSimulation simulation(p);
    std::vector<int> where = spread(p, simple_, devices, bytes);
    if (!fits(p, where)) return std::nullopt;
    simulation.by_priority(where, planning::bottom_levels(p, where));
    Choice c{std::move(where),
             simulation.order_by_start(),
             simulation.start(),
             0,
             0,
             fmt::format("variables spread over {} devices", parts),
             {}};
    c.step_s = step_of(graph_, c);
    if (!holds(c)) return std::nullopt;
    return c;
  }

  bool may(const CostGraph& g, int node, int device) const {
    return std::ranges::any_of(g.nodes[node].time, [&](const auto& t) {
      return t.first == g.devices[device].name;
    });
  }

  CostGraph only_liked() const {
    CostGraph g = graph_;
    std::map<std::string_view, int> liking;
    for (size_t d = 0; d < g.devices.size(); ++d) liking[g.devices[d].name] = step_.liking[d];
    for (CostNode& n : g.nodes) {
      int most = INT_MIN;
      for (const auto& [device, seconds] : n.time) most = std::max(most, liking[device]);
      std::erase_if(n.time, [&](const auto& t) { return liking[t.first] < most; });
    }
    return g;
  }

  Choice search(const CostGraph& g) const {
    const Problem p(g);
    ListSimulation simulation(p);
    Choice best;
    std::optional<CostGraph> careful;  // beside the first that fits
    const auto offer = [&](std::vector<int> device, std::string name) {
      if (!fits(p, device)) return;
      simulation.by_priority(device, planning::bottom_levels(p, device));
      Choice c{std::move(device),
               simulation.order_by_start(),
               simulation.start(),
               0,
               0,
               std::move(name),
               {}};
      c.step_s = step_of(g, c);
      if (!careful)
        careful = at_worst(g, c.device);
      else if (!surely_better(*careful, c, best))
        return;
      best = std::move(c);
    };
    offer(simple_, "the simple placer");
    for (size_t d = 0; d < g.devices.size(); ++d)
      offer(all_on(p, static_cast<int>(d)), g.devices[d].name);
    if (!best.device.empty() && (alone_ || !matters(p))) return best;
    careful = best.device.empty() ? g : at_worst(g, best.device);
    const Plan plan = emplace::plan(*careful, limits(best.step_s));
    best.bound_s = planning::list_bounds(p).value;
    simulation.in_order(plan.device, plan.order);
    Choice found{plan.device, plan.order, simulation.start(), 0, best.bound_s, plan.found_by, {}};
    found.step_s = step_of(g, found);
    if (best.device.empty()) return found;
    if (surely_better(*careful, found, best)) {
      found.doubt = fmt::format("a step takes {} less than with {}, at worst {}",
                                milliseconds(best.step_s - found.step_s), best.found_by,
                                milliseconds(step_of(*careful, best) - step_of(*careful, found)));
      return found;
    }
    if (best.step_s > best.bound_s * (1 + kWorthIt))
      best.doubt =
          "no other placement is sure to be faster where costs are as wrong as they may be";
    return best;
  }

  // As it is expected, and at worst.
  bool surely_better(const CostGraph& careful, const Choice& c, const Choice& than) const {
    return c.step_s < than.step_s * (1 - kPredicted) &&
           step_of(careful, c) < step_of(careful, than) * (1 - kPredicted);
  }

  double step_of(const CostGraph& g, const Choice& c) const {
    return island_step_s(step_, g, c.device, c.order);
  }

  // What a placement is compared with is known: nodes where it has them. Elsewhere they may take
  // longer, unless they are said to take just as long, being measured alike; so may copies.
  CostGraph at_worst(const CostGraph& g, const std::vector<int>& base) const {
    CostGraph out = g;
    std::map<std::string_view, size_t> number;
    for (size_t d = 0; d < g.devices.size(); ++d) number[g.devices[d].name] = d;
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const double here = time_on(g.nodes[i], g.devices[base[i]].name);
      for (auto& [device, seconds] : out.nodes[i].time)
        if (seconds != here) seconds += kCareful * step_.spread[i][number.at(device)];
    }
    for (CostLinkPair& l : out.links) {
      l.link.latency_s *= kCarefulLink;
      l.link.bytes_per_s /= kCarefulLink;
    }
    return out;
  }

  static double time_on(const CostNode& n, const std::string& device) {
    for (const auto& [name, seconds] : n.time)
      if (name == device) return seconds;
    return 0;
  }

  // Is there anything to choose?
  bool matters(const Problem& p) const {
    for (int u = 0; u < p.units; ++u)
      if (p.allowed(u).size() > 1) return true;
    return false;
  }

  // Everything that may, on one device; what may not stays where the simple placer has it.
  std::vector<int> all_on(const Problem& p, int device) const {
    std::vector<int> where = simple_;
    for (int i = 0; i < p.nodes; ++i)
      if (p.may(p.unit_of[i], device)) where[i] = device;
    return where;
  }

  bool fits(const Problem& p, const std::vector<int>& device) const {
    std::vector<double> used(graph_.devices.size(), 0);
    for (int i = 0; i < p.nodes; ++i) {
      if (!p.may(p.unit_of[i], device[i])) return false;
      used[device[i]] += graph_.nodes[i].memory;
    }
    for (size_t d = 0; d < used.size(); ++d)
      if (graph_.devices[d].memory && used[d] > *graph_.devices[d].memory) return false;
    return true;
  }

  bool holds(const Choice& c) const {
    Plan plan;
    plan.device = c.device;
    plan.order = c.order;
    const PredictedStep step = predict(step_.graph, plan);
    for (size_t d = 0; d < step.devices.size(); ++d)
      if (graph_.devices[d].memory && step.devices[d].peak_bytes > *graph_.devices[d].memory)
        return false;
    return true;
  }

  PlanOptions limits(double step_s) const {
    PlanOptions o = options_;
    if (o.budget_ms || o.evaluations) return o;
    const double by_size = std::max(42.0, 0.017 * static_cast<double>(graph_.nodes.size()));
    const double most = std::min(kMostMs, by_size);
    o.budget_ms = step_s > 0 ? std::clamp(kStepsToSpend * step_s * 1e3, kLeastMs, most) : most;
    return o;
  }

  const StepCosts& step_;
  const std::vector<int>& simple_;
  const PlanOptions& options_;
  const bool alone_;
  CostGraph graph_;  // as step_, memory as it is counted
  bool limited_ = false;
};

}  // namespace

Choice choose(const StepCosts& step, const std::vector<int>& simple, const PlanOptions& options,
              bool alone) {
  return Chooser(step, simple, options, alone).run();
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

std::string quality(const Choice& choice) {
  Plan plan;
  plan.value = choice.step_s;
  plan.bound = choice.bound_s;
  plan.optimal = choice.bound_s > 0 && choice.step_s <= choice.bound_s * (1 + 1e-9);
  return plan_quality(plan);
}

}  // namespace emplace::placement
