#include <emplace/plan.h>

#include <chrono>
#include <ctime>
#include <iostream>

#include "common.h"
#include "cost_graph_json.h"

namespace emplace::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct PlanArguments {
  std::string file;
  double budget_ms = -1;
  int64_t evaluations = -1;
  uint64_t seed = 1;
};

// Wall time since `started`, and what the process took before it.
double spent_ms(Clock::time_point started, std::clock_t before) {
  const std::chrono::duration<double, std::milli> since = Clock::now() - started;
  return since.count() + 1000.0 * double(before) / CLOCKS_PER_SEC;
}

void run_plan(const PlanArguments& a, Clock::time_point started, std::clock_t before) {
  const CostGraph graph = cost_graph_from_json(read_text(a.file));
  PlanOptions options;
  if (a.budget_ms >= 0) options.budget_ms = a.budget_ms;
  if (a.evaluations >= 0) options.evaluations = a.evaluations;
  options.seed = a.seed;
  // The default is for the whole command.
  if (a.budget_ms < 0) options.spent_ms = spent_ms(started, before);
  std::cout << plan_to_json(graph, plan(graph, options)) << std::endl;
}

}  // namespace

void add_plan(CLI::App& app, Context&) {
  const auto started = Clock::now();
  const std::clock_t before = std::clock();
  CLI::App* sub = app.add_subcommand(
      "plan", "Where each node of a bare cost graph should run, and in which order");
  auto a = std::make_shared<PlanArguments>();
  sub->add_option("case", a->file, "The cost graph in JSON")->required()->type_name("CASE.json");
  sub->add_option("--budget-ms", a->budget_ms,
                  "Wall time to search for; without, one that suits size and model")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--evaluations", a->evaluations,
                  "Plans to look at; alone, the answer is the same on every machine")
      ->check(CLI::PositiveNumber);
  sub->add_option("--seed", a->seed, "Of the search's random numbers");
  sub->footer(
      "Prints the answer as JSON: \"placement\", \"order\" or \"calls\", the value in seconds, a bound\n"
      "that no plan can beat and whether the plan is proven optimal. docs/placement.md has the form.");
  sub->callback([a, started, before] { run_plan(*a, started, before); });
}

}  // namespace emplace::cli
