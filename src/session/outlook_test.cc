#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/emplace.h"
#include "emplace/what_if.h"

namespace emplace {
namespace {

class Outlooks : public ::testing::Test {
 protected:
  void SetUp() override {
    const Scope in_graph = graph.as_default();
    for (int k = 0; k < 4; ++k) {
      Output x = constant(Tensor(DType::kFloat, Shape{512, 512}), "w" + std::to_string(k));
      for (int i = 0; i < 4; ++i) x = matmul(x, x);
      ends.push_back(x);
    }
    ends = {add_n(ends)};
    topology.devices = {{{"CPU:0", "", {}, 2}}, {{"GPU:0", "", 64e6}}, {{"GPU:1", "", 64e6}}};
    topology.default_link = CostLink{1e-5, 1e10};
    options.fetches = ends;
    options.search.evaluations = 500;
  }
  const Outlook& way(const std::vector<Outlook>& all, const std::string& name) {
    return *std::ranges::find_if(all, [&](const Outlook& o) { return o.way.find(name) != o.way.npos; });
  }
  Graph graph;
  std::vector<Output> ends;
  Topology topology;
  OutlookOptions options;
};

TEST_F(Outlooks, SetWaysOfPlacingBesideEachOther) {
  const auto all = outlooks(graph, topology, options);
  ASSERT_EQ(all.size(), 5u);  // three devices, the rules, the plan
  const double gpu = way(all, "GPU:0 alone").step_s;
  EXPECT_GT(way(all, "CPU:0 alone").step_s, gpu);
  EXPECT_DOUBLE_EQ(way(all, "GPU:1 alone").step_s, gpu);
  EXPECT_LT(way(all, "dynamic").step_s, 0.75 * gpu);
  for (const Outlook& o : all) {
    EXPECT_EQ(o.problem, "") << o.way;
    EXPECT_EQ(o.report.rows.size(), graph.nodes().size());
    EXPECT_FALSE(o.timeline.nodes.empty());
    double busy = 0;
    for (const auto& d : o.devices) busy = std::max(busy, d.busy_s);
    EXPECT_LE(busy, o.step_s * (1 + 1e-9));
    EXPECT_GT(busy, 0);
  }
  const std::string table = outlook_table(all);
  EXPECT_NE(table.find("GPU:1 busy, peak"), std::string::npos) << table;
  EXPECT_NE(table.find("soonest"), std::string::npos) << table;
}

TEST_F(Outlooks, ShowWhatThePinsMakeOfIt) {
  graph.set_device(graph.find("MatMul"), "/cpu:0");
  const auto all = outlooks(graph, topology, options);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_GT(way(all, "your pins").step_s, way(all, "simple placer").step_s);
  const auto& rows = way(all, "dynamic").report.rows;
  const auto row = std::ranges::find(rows, "MatMul", &PlacementRow::node);
  EXPECT_TRUE(row->device.ends_with("CPU:0"));  // pins bind the plan
  EXPECT_EQ(graph.find("MatMul")->device(), "/cpu:0");
}

TEST_F(Outlooks, SayWhatDoesNotFit) {
  for (size_t d : {1, 2}) topology.devices[d].device.memory = 3e6;
  const auto all = outlooks(graph, topology, options);
  const Outlook& gpu = way(all, "GPU:0 alone");
  EXPECT_NE(gpu.problem.find("GPU:0 would hold"), std::string::npos) << gpu.problem;
  EXPECT_NE(gpu.problem.find(" of 2.9 MiB: "), std::string::npos) << gpu.problem;
  EXPECT_GT(gpu.devices[1].memory.peak, 3'000'000);
  EXPECT_EQ(way(all, "CPU:0 alone").problem, "");
}

TEST_F(Outlooks, PinsThatCannotBeMetAreAProblemOfTheirWay) {
  graph.set_device(graph.find("MatMul"), "/gpu:7");
  const auto all = outlooks(graph, topology, options);
  EXPECT_NE(way(all, "your pins").problem, "");
  EXPECT_EQ(way(all, "simple placer").problem, "");
}

TEST_F(Outlooks, RefuseATopologyWithoutDevices) {
  EXPECT_THROW(outlooks(graph, Topology{}, options), Error);
}

TEST_F(Outlooks, FasterLinksAndLaunchesCount) {
  const double before = way(outlooks(graph, topology, options), "GPU:0 alone").step_s;
  topology.devices[1].device.launch_s = 1;
  EXPECT_GT(way(outlooks(graph, topology, options), "GPU:0 alone").step_s, before + 1);
}

TEST_F(Outlooks, MeasuredCostsOfADevicesKindCount) {
  const double before = way(outlooks(graph, topology, options), "GPU:0 alone").step_s;
  for (const char* node : {"MatMul", "MatMul_1"})
    options.costs.add({node, {"MatMul", "", ""}, "", "Brand new", {2, 0, 10}});
  topology.devices[1].kind = "Brand new";
  const double after = way(outlooks(graph, topology, options), "GPU:0 alone").step_s;
  EXPECT_NEAR(after, before + 4, 0.5);
  topology.devices[1].kind = "Brand old";
  try {
    outlooks(graph, topology, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("of which the costs say nothing: they know Brand new"),
              std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace emplace
