#include <gtest/gtest.h>

#include <atomic>

#include "bench/sched/contender.h"
#include "bench/sched/work.h"

namespace emplace::bench {
namespace {

// Sees whether every node of each run comes after all its predecessors.
struct OrderWitness {
  const TaskGraph* graph;
  std::vector<std::atomic<uint32_t>> times_run;
  std::atomic<int> too_early = 0;
  uint32_t spins = 0;

  static void see(void* context, uint32_t node) {
    auto* self = static_cast<OrderWitness*>(context);
    CountingWork::spin(self->spins);
    const uint32_t round = self->times_run[node].load();
    for (const uint32_t pred : self->graph->preds_of(node)) {
      if (self->times_run[pred].load() != round + 1) ++self->too_early;
    }
    self->times_run[node].store(round + 1);
  }
};

void expect_ordered_runs(Contender& contender, const TaskGraph& graph, int workers,
                         uint32_t spins) {
  constexpr uint32_t kRuns = 30;
  OrderWitness witness{&graph, std::vector<std::atomic<uint32_t>>(graph.nodes), 0, spins};
  contender.prepare(graph, {OrderWitness::see, &witness}, workers);
  for (uint32_t run = 0; run < kRuns; ++run) contender.run();
  EXPECT_EQ(witness.too_early, 0) << contender.name() << ' ' << graph.name << ' ' << workers;
  for (const auto& times : witness.times_run) ASSERT_EQ(times, kRuns) << contender.name();
}

std::vector<std::unique_ptr<Contender>> everyone() {
  std::vector<std::unique_ptr<Contender>> contenders;
  contenders.push_back(make_in_order());
  contenders.push_back(make_floor());
  contenders.push_back(make_tbb_flow_graph(false));
  contenders.push_back(make_tbb_flow_graph(true));
  contenders.push_back(make_tbb_task_group());
  contenders.push_back(make_openmp_tasks());
  return contenders;
}

TEST(Contenders, RunEveryNodeOnceAfterItsPredecessors) {
  for (const TaskGraph& graph : {make_chain(50), make_wave(12, 9), make_random(300)}) {
    for (const auto& contender : everyone()) {
      for (const int workers : {1, 2}) expect_ordered_runs(*contender, graph, workers, 0);
    }
  }
}

TEST(Contenders, FloorSharesLongRunsInOrder) {
  const std::unique_ptr<Contender> floor = make_floor();
  for (const TaskGraph& graph : {make_wave(20, 20), make_random(500)}) {
    for (const int workers : {2, 3, 4}) expect_ordered_runs(*floor, graph, workers, 2000);
  }
}

TEST(Contenders, AddChainLeavesTheSum) {
  const TaskGraph graph = make_chain(1000);
  for (const uint32_t floats : {1u, 1024u}) {
    AddWork work(graph.nodes, floats);
    const std::unique_ptr<Contender> floor = make_floor();
    floor->prepare(graph, work.work(), 1);
    floor->run();
    floor->run();
    EXPECT_EQ(work.check(2), "");
    EXPECT_NE(work.check(3), "");
  }
}

TEST(Contenders, CountingWorkNamesTheNodeThatDidNotRun) {
  CountingWork work(3, 0);
  const Work call = work.work();
  call.fn(call.context, 0);
  call.fn(call.context, 2);
  EXPECT_EQ(work.check(1), "node 1 ran 0 times in 1 runs");
}

}  // namespace
}  // namespace emplace::bench
