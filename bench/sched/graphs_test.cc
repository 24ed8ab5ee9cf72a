#include "bench/sched/graphs.h"

#include <gtest/gtest.h>

namespace emplace::bench {
namespace {

TEST(BenchGraphs, FiveGraphsWithTheirSizes) {
  const std::vector<TaskGraph> graphs = benchmark_graphs();  // throws where a fingerprint differs
  ASSERT_EQ(graphs.size(), 5u);
  const auto sizes = [&](int i) { return std::pair(graphs[i].nodes, graphs[i].preds.size()); };
  EXPECT_EQ(sizes(0), std::pair(100'000u, size_t{99'999}));
  EXPECT_EQ(sizes(1), std::pair(65'536u, size_t{130'560}));
  EXPECT_EQ(sizes(2), std::pair(65'536u, size_t{256'188}));
  EXPECT_EQ(sizes(3), std::pair(32u, size_t{31}));
  EXPECT_EQ(sizes(4), std::pair(32u, size_t{105}));
}

TEST(BenchGraphs, FingerprintSeesOneEdge) {
  TaskGraph graph = make_random(32);
  const uint64_t before = fingerprint(graph);
  graph.preds[7] ^= 1;
  EXPECT_NE(fingerprint(graph), before);
}

TEST(BenchGraphs, SuccessorsMirrorPredecessors) {
  for (const TaskGraph& graph : {make_chain(9), make_wave(4, 5), make_random(200)}) {
    size_t edges = 0;
    for (uint32_t node = 0; node < graph.nodes; ++node) {
      for (const uint32_t succ : graph.succs_of(node)) {
        const auto preds = graph.preds_of(succ);
        EXPECT_NE(std::find(preds.begin(), preds.end(), node), preds.end());
        EXPECT_LT(node, succ);
        ++edges;
      }
    }
    EXPECT_EQ(edges, graph.preds.size());
  }
}

}  // namespace
}  // namespace emplace::bench
