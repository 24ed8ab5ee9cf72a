// What a session knows of costs: a book that it was given, and what it measures.
#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "exec/island.h"
#include "exec/prune.h"
#include "graph/read_lock.h"
#include "session/calibrate.h"
#include "session/session_impl.h"
#include "session/session_placer.h"

namespace emplace {
namespace {

int64_t since(std::chrono::steady_clock::time_point start) {
  return (std::chrono::steady_clock::now() - start) / std::chrono::nanoseconds(1);
}

// Nodes that some instruction of the program is called after, or belongs to.
std::unordered_set<const Node*> nodes_of(const Program& program) {
  std::unordered_set<const Node*> nodes;
  for (size_t i = 0; i < program.size(); ++i) {
    const Label& label = program.labels[i];
    if (!label.island) {
      nodes.insert(label.node);
      continue;
    }
    for (const Island::Member& m : static_cast<const Island*>(program.calls[i].state)->members)
      nodes.insert(m.label.node);
  }
  return nodes;
}

}  // namespace

std::unique_ptr<CostSampler> Session::Impl::make_sampler() const {
  if (!options.measure_costs && options.costs.empty() && options.save_costs.empty() &&
      !weighs_costs(options))
    return nullptr;
  return std::make_unique<CostSampler>(options.costs.empty() ? CostBook() : CostBook::load(options.costs),
                                       device_kinds(*devices));
}

CostBook Session::Impl::costs() const { return sampler ? sampler->book() : CostBook(); }

void Session::Impl::save_costs() {
  if (!sampler || options.save_costs.empty() || costs_saved_.exchange(true)) return;
  sampler->book().save(options.save_costs);
}

std::shared_ptr<const CostSource> Session::Impl::cost_source() {
  if (!sampler) return std::make_shared<BookCosts>();
  const std::lock_guard lock(costs_mutex_);
  const uint64_t samples = sampler->samples();
  if (!latest_costs_ || samples != latest_samples_) {
    CostBook book = machine_rates({pools, devices, resources_owner, nullptr}, sampler->kinds(), kernels);
    book.merge(costs());
    latest_costs_ = std::make_shared<BookCosts>(std::move(book), sampler->kinds());
    latest_samples_ = samples;
  }
  return latest_costs_;
}

void Session::Impl::run_measured(const PlanFamily& family, Program& program,
                                 std::unique_ptr<Instance> instance, const StepRequest& step,
                                 std::vector<Tensor>& fetched, StepTrace* asked) {
  StepTrace trace;
  const bool sample = !asked && sampler->wants(program);
  trace.settles = trace.with_shapes = sample;
  // What calls of a card take one by one, the host waiting for each, is more than together.
  trace.whole_islands = sample && program.on_card && program.sampling.seen_by_call;
  const auto start = std::chrono::steady_clock::now();
  try {
    Instance::run(std::move(instance), step, fetched, sample ? &trace : asked);
  } catch (...) {
    if (sample) CostSampler::failed(program);
    throw;
  }
  const int64_t took = since(start);
  if (!sample) return CostSampler::ran(program, took);
  sampler->sampled(program, graph, trace, took, [&] { return absent_nodes(family, program); });
}

// Folded, fused into another or only passed on: they take no time of their own.
CostSampler::Absent Session::Impl::absent_nodes(const PlanFamily& family, const Program& program) {
  const ReadLock reading(graph.mutex());
  const std::lock_guard lock(place_mutex);
  std::vector<Node*> roots = family.signature.targets;
  for (const Output& o : family.signature.fetches) roots.push_back(o.node);
  FeedIndex fed;
  for (const Output& o : family.signature.feeds) fed.emplace(o, 0);
  const std::unordered_set<const Node*> there = nodes_of(program);
  CostSampler::Absent absent;
  for (const Node* n : needed_nodes(roots, fed)) {
    if (there.contains(n) || is_no_work(*n)) continue;
    const bool calls = std::ranges::any_of(n->attrs(), [](const auto& a) {
      return a.second.template is<FunctionName>();
    });
    if (const Device* d = device_of(*n); d && !calls)
      absent.emplace_back(n->name(), sampler->kind(*d));
  }
  return absent;
}

}  // namespace emplace
