// The search behind `plan`: rules side by side, the best of them improved while the budget lasts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "emplace/error.h"
#include "placement/search/branch_and_bound.h"
#include "placement/search/calls_search.h"
#include "placement/search/deadline_search.h"
#include "placement/search/list_anneal.h"
#include "placement/search/list_reinsert.h"
#include "placement/search/list_reschedule.h"
#include "placement/search/list_rules.h"
#include "placement/search/memory.h"
#include "placement/search/order_search.h"
#include "placement/search/pipeline_ideals.h"
#include "placement/search/pipeline_search.h"
#include "placement/search/pipeline_split.h"
#include "placement/search/placement_anneal.h"
#include "placement/search/simulate_calls.h"
#include "placement/search/simulate_list.h"
#include "placement/search/simulate_load.h"

namespace emplace {
namespace planning {
namespace {

constexpr int kSmall = 200;  // nodes: whole schedules are evaluated at each step
constexpr double kAlikeMs = 17;  // for a small list on alike devices without transfers
constexpr double kSmallMs = 42, kThousandMs = 17;  // for a list of so many nodes
constexpr int kFew = 40;        // nodes: annealing alone is as good
constexpr int kProvenSoon = 20;  // nodes: most such plans are proven in some milliseconds
constexpr int kSimulated = 2000;  // nodes: what is scheduled is simulated, too, which may be better
constexpr double kGoOn = 0.09;  // of the time from scratch, for a plan that goes on from another
constexpr int64_t kNoLimit = int64_t{1} << 60;

// Small lists get more than their size asks for.
double default_ms(const Problem& p) {
  const double by_size = kThousandMs * p.nodes / 1000;
  switch (p.graph.model) {
    case PlanModel::kMaxLoad: return std::max(85.0, by_size + 50);
    case PlanModel::kCalls: return std::max(850.0, by_size);
    case PlanModel::kList: break;
  }
  if (p.nodes <= kSmall) return order_alone_counts(p) ? kAlikeMs : kSmallMs;
  const double above = double(p.nodes - kSmall) / (1000 - kSmall);
  return std::max(by_size, kSmallMs + (kThousandMs - kSmallMs) * above);
}

Budget make_budget(const Problem& p, const PlanOptions& o) {
  if (!o.budget_ms && o.evaluations) return Budget(kInfinity, *o.evaluations);
  const int64_t evaluations = o.evaluations.value_or(kNoLimit);
  if (o.budget_ms) return Budget(std::max(0.0, *o.budget_ms - o.spent_ms), evaluations);
  // Half of it remains however long a busy machine took to start.
  const double usual = default_ms(p) * (o.start ? kGoOn : 1);
  return Budget(std::max(usual / 2, usual - o.spent_ms), evaluations);
}

class Search {
 public:
  Search(const Problem& p, const PlanOptions& options)
      : p_(p), options_(options), budget_(make_budget(p, options)), simulation_(p) {}

  Plan run() {
    if (p_.nodes > 0) {
      if (options_.start) try_start(*options_.start);
      else try_rules();
      if (!proven() && !budget_.over()) improve();
    } else {
      best_.value = bound_ = 0;
    }
    Plan out;
    out.device = best_.where;
    if (p_.graph.model == PlanModel::kList) out.order = best_.order;
    if (p_.graph.model == PlanModel::kCalls) out.call = best_.call;
    out.value = best_.value;
    out.bound = std::min(bound_, best_.value);
    out.optimal = proven();
    out.found_by = best_.found_by;
    out.evaluations = budget_.spent();
    out.first_ms = first_ms_;
    out.total_ms = budget_.elapsed_ms();
    return out;
  }

 private:
  bool proven() const { return best_.value <= bound_ * (1 + 1e-9); }

  // The earlier plan, and what the new one is never to be worse than: each single device.
  void try_start(const Plan& start) {
    check_start(start);
    Solution s;
    s.where = start.device;
    for (int u = 0; u < p_.units; ++u) {
      const int d = s.where[p_.members(u)[0]];
      for (int i : p_.members(u)) s.where[i] = p_.may(u, d) ? d : p_.allowed(u)[0];
    }
    s.order = start.order;
    s.call = start.call;
    s.found_by = "the earlier plan";
    offer(std::move(s));
    first_ms_ = budget_.elapsed_ms();
    for (int d = 0; d < p_.devices && !budget_.over(); ++d)
      if (p_.twin[d] == d) offer(single_rule(p_, d));
    // What one pass finds for the new costs, while there is time for it.
    if (p_.graph.model == PlanModel::kList && !budget_.over() && budget_.progress() < 0.3)
      offer(affinity_rule(p_, 0));
    if (!budget_.over() && budget_.progress() < 0.3) offer(ranked_rule(p_, Rank::kMean, false));
  }

  void check_start(const Plan& start) const {
    const auto sound = [&](std::span<const int> all, int below) {
      return int(all.size()) == p_.nodes &&
             std::ranges::all_of(all, [&](int x) { return x >= 0 && x < below; });
    };
    std::vector<int> sorted = start.order;
    std::ranges::sort(sorted);
    const bool in_order = start.order.empty() ||
                          (sound(sorted, p_.nodes) &&
                           std::ranges::adjacent_find(sorted) == sorted.end());
    if (!sound(start.device, p_.devices) || !in_order ||
        !(start.call.empty() || sound(start.call, std::numeric_limits<int>::max())))
      throw invalid_argument("The plan to start from is one of other nodes or devices");
  }

  // The first rule always gives a plan; the others as long as there is time.
  void try_rules() {
    const bool list = p_.graph.model == PlanModel::kList;
    std::vector<std::function<Solution()>> rules = {
        [&] { return ranked_rule(p_, Rank::kMean, false); }};
    for (int d = 0; d < p_.devices; ++d)
      if (p_.twin[d] == d) rules.push_back([&, d] { return single_rule(p_, d); });
    const size_t always = rules.size();
    if (list)
      for (double shift : {0.0, -0.1, 0.1})
        rules.push_back([&, shift] { return affinity_rule(p_, shift); });
    rules.push_back([&] { return greedy_rule(p_); });
    for (const auto& order : split_orders()) rules.push_back([&, order] { return split(order); });
    if (list)
      for (Rank rank : {Rank::kBest, Rank::kFree, Rank::kMean})
        for (bool look_ahead : {true, false})
          if (rank != Rank::kMean || look_ahead)
            rules.push_back([&, rank, look_ahead] { return ranked_rule(p_, rank, look_ahead); });
    // The first ones always; of the others, half of the time's worth where the graph is large.
    for (size_t k = 0; k < rules.size(); ++k) {
      offer(rules[k]());
      if (best_.value < kInfinity && first_ms_ == 0) first_ms_ = budget_.elapsed_ms();
      if (k + 1 >= always && (budget_.over() || budget_.progress() > 0.5)) break;
    }
  }

  std::vector<std::vector<int>> split_orders() const {
    const bool list = p_.graph.model == PlanModel::kList;
    if (p_.units > 20'000 || (list && !p_.graph.serial_links)) return {};
    return unit_orders(p_);
  }

  Solution split(const std::vector<int>& order) const {
    const bool calls = p_.graph.model == PlanModel::kCalls;
    const double limit = p_.graph.model == PlanModel::kMaxLoad ? best_.value : kInfinity;
    Solution s;
    s.found_by = "contiguous split";
    const auto where =
        best_split(p_, order, calls ? SplitGoal::kSum : SplitGoal::kFullest, limit);
    if (!where.empty()) s.where = to_nodes(p_, where);
    return s;
  }

  void offer(Solution s) {
    if (s.where.empty()) return;
    budget_.spend();
    std::vector<int> fit = to_nodes(p_, make_fit(p_, to_units(p_, s.where)));
    if (fit != s.where) s.value = kInfinity;
    s.where = std::move(fit);
    evaluate(s);
    if (s.value < best_.value) best_ = std::move(s);
  }

  void evaluate(Solution& s) {
    if (p_.graph.model == PlanModel::kMaxLoad) {
      s.value = fullest_load(p_, s.where);
    } else if (p_.graph.model == PlanModel::kCalls) {
      if (!s.call.empty()) s.value = calls_end(p_, s.where, s.call).value_or(kInfinity);
      std::vector<int> call = default_calls(p_, s.where);
      const double value = *calls_end(p_, s.where, call);
      if (value < s.value) s.value = value, s.call = std::move(call);
    } else if (s.value == kInfinity || p_.nodes <= kSimulated) {
      if (!s.order.empty()) s.value = simulation_.in_order(s.where, s.order).value_or(kInfinity);
      const double value = simulation_.by_priority(s.where, bottom_levels(p_, s.where));
      if (value < s.value) s.value = value, s.order = simulation_.order_by_start();
    }
  }

  void improve() {
    switch (p_.graph.model) {
      case PlanModel::kMaxLoad:
        bound_ = pipeline_bound(p_);
        return improve_pipeline();
      case PlanModel::kCalls:
        bound_ = calls_bound(p_);
        return anneal_calls(p_, bound_, options_.seed, budget_, best_);
      case PlanModel::kList: improve_list();
    }
  }

  // Some annealing, then whether any contiguous split is better, then more annealing.
  void improve_pipeline() {
    Budget first = budget_.part(0.4);
    anneal_pipeline(p_, bound_, options_.seed, first, best_);
    budget_.charge(first);
    Budget exact = budget_.part(0.6);
    while (!proven()) {
      const std::vector<int> where = split_below(p_, best_.value * (1 - 1e-9), exact);
      if (where.empty()) break;
      Solution s;
      s.where = to_nodes(p_, where);
      s.found_by = "contiguous split";
      offer(std::move(s));
    }
    budget_.charge(exact);
    if (!proven() && !budget_.over()) anneal_pipeline(p_, bound_, options_.seed + 1, budget_, best_);
  }

  void improve_list() {
    ListBounds bounds = list_bounds(p_);
    bound_ = bounds.value;
    if (proven()) return;
    if (p_.graph.serial_links || !p_.pool_cores.empty() || (!p_.one_slot && p_.nodes > kSmall))
      return anneal_placement(p_, bound_, options_.seed, budget_, best_);
    reschedule(bounds);
    if (proven()) return;
    if (p_.nodes > kSmall)
      return reinsert_list(p_, bounds, options_.seed, budget_, best_);
    bound_ = bounds.value = energy_bound(p_, bounds, best_.value);
    if (provable(p_) && prove(bounds)) return;
    if (order_alone_counts(p_)) improve_order(bounds);
    else improve_small(bounds);
  }

  // Nodes of the longest path one by one, where there are enough of them for that to be quick; then
  // anything.
  void improve_small(const ListBounds& bounds) {
    if (p_.nodes > kFew) {
      Budget part = budget_.part(0.6);
      reinsert_list(p_, bounds, options_.seed, part, best_);
      budget_.charge(part);
    }
    if (!proven() && !budget_.over()) anneal_list(p_, bounds, options_.seed, budget_, best_);
  }

  // Orders alone count: changes of the best one, and in between whether one ends by the bound, or
  // just before the best.
  void improve_order(ListBounds& bounds) {
    std::optional<DeadlineSearch> by_bound, by_less;
    double less = kInfinity;
    for (uint64_t turn = 0; !proven() && !budget_.over(); ++turn) {
      const uint64_t seed = options_.seed + turn;
      const double next = best_.value - std::max(p_.grain, best_.value * 1e-4);
      const bool last = next < bound_ + 0.5 * p_.grain;  // only the bound itself is better
      Budget part = budget_.part(turn % 2 == 0 ? 0.08 : last ? 0.8 : 0.4);
      if (turn % 2 == 0) {
        search_orders(p_, bounds, seed, part, best_);
      } else if (p_.grain > 0 && (turn % 4 == 1 || last)) {
        if (!by_bound) by_bound.emplace(p_, bound_, seed);
        if (by_bound->run(part, best_) == Found::kNo) {
          bound_ = bounds.value = p_.round_up(bound_ + p_.grain);
          by_bound.reset();
        }
      } else {
        if (next != less) by_less.emplace(p_, less = next, seed);
        if (by_less->run(part, best_) == Found::kNo)
          bound_ = bounds.value = std::max(bound_, p_.round_up(less + p_.grain));
      }
      budget_.charge(part);
    }
  }

  // More passes of the rules' kind, with ranks from what the best plan looks like.
  void reschedule(const ListBounds& bounds) {
    if (!p_.one_slot || order_alone_counts(p_)) return;
    Budget part = budget_.part(0.1);
    reschedule_list(p_, bounds, options_.seed, part, best_);
    budget_.charge(part);
  }

  // A short search for a good plan, then the exact method with a share of the time: true where the
  // plan is optimal.
  bool prove(const ListBounds& bounds) {
    Budget first = budget_.part(0.15);
    anneal_list(p_, bounds, options_.seed, first, best_);
    budget_.charge(first);
    if (proven()) return true;
    Budget exact = budget_.part(p_.nodes > kProvenSoon ? 0.1 : 0.3);
    const bool all_seen = prove_list(p_, bounds, exact, best_);
    budget_.charge(exact);
    if (all_seen) bound_ = best_.value;
    return all_seen;
  }

  const Problem& p_;
  const PlanOptions& options_;
  Budget budget_;
  ListSimulation simulation_;
  Solution best_;
  double bound_ = 0, first_ms_ = 0;
};

void check(const Problem& p, const Plan& plan) {
  if (int(plan.device.size()) != p.nodes) throw invalid_argument("Not every node is placed");
  std::vector<double> used(p.devices, 0);
  for (int i = 0; i < p.nodes; ++i) {
    const int d = plan.device[i];
    if (d < 0 || d >= p.devices || !p.may(p.unit_of[i], d) ||
        d != plan.device[p.members(p.unit_of[i])[0]])
      throw invalid_argument(fmt::format("Node '{}' may not go to device {}", p.graph.nodes[i].name, d));
    used[d] += p.graph.nodes[i].memory;
  }
  for (int d = 0; d < p.devices; ++d)
    if (const auto& memory = p.graph.devices[d].memory; memory && used[d] > *memory)
      throw invalid_argument(fmt::format("{} holds {:.0f} bytes of {:.0f}", p.graph.devices[d].name,
                                         used[d], *memory));
}

double value_of(const Problem& p, const Plan& plan) {
  if (p.graph.model == PlanModel::kMaxLoad) return fullest_load(p, plan.device);
  std::optional<double> value;
  if (p.graph.model == PlanModel::kCalls) {
    const auto call = plan.call.empty() ? default_calls(p, plan.device) : plan.call;
    value = calls_end(p, plan.device, call);
  } else {
    ListSimulation simulation(p);
    value = plan.order.empty() ? simulation.by_priority(plan.device, bottom_levels(p, plan.device))
                               : simulation.in_order(plan.device, plan.order);
  }
  if (!value) throw invalid_argument("The order or the calls of the plan wait for each other");
  return *value;
}

}  // namespace
}  // namespace planning

Plan plan(const CostGraph& graph, const PlanOptions& options) {
  const planning::Problem problem(graph);
  Plan out = planning::Search(problem, options).run();
  planning::check(problem, out);
  if (problem.nodes > 0) out.value = planning::value_of(problem, out);
  return out;
}

double plan_value(const CostGraph& graph, const Plan& plan) {
  const planning::Problem problem(graph);
  planning::check(problem, plan);
  return problem.nodes == 0 ? 0 : planning::value_of(problem, plan);
}

std::string plan_quality(const Plan& plan) {
  if (plan.optimal) return "optimal";
  if (!(plan.bound > 0) || plan.value > 2 * plan.bound) return "";
  return fmt::format("within {:.1f} % of the optimum", 100 * (plan.value / plan.bound - 1));
}

}  // namespace emplace
