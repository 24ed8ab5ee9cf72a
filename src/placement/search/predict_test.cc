#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/source_dir_testutil.h"
#include "emplace/error.h"
#include "emplace/plan.h"
#include "emplace/session.h"
#include "placement/search/budget.h"

namespace emplace {
namespace {

using planning::Random;

CostGraph on_devices(int count) {
  CostGraph g;
  g.name = "g";
  g.default_link = {0, 1};
  for (int d = 0; d < count; ++d)
    g.devices.push_back({"/device:CPU:" + std::to_string(d), "CPU", std::nullopt, 1});
  return g;
}

void add(CostGraph& g, const std::string& name, double seconds, std::vector<double> outputs = {}) {
  CostNode n{name, {{"CPU", seconds}}};
  n.output_bytes = std::move(outputs);
  n.op = "Op";
  g.nodes.push_back(n);
}

Plan placed(std::vector<int> device) {
  Plan p;
  p.device = std::move(device);
  return p;
}

TEST(Predict, NodesOfOnePoolShareItsCores) {
  CostGraph g = on_devices(2);
  for (CostDevice& d : g.devices) d.pool = "host";
  add(g, "short", 1);
  add(g, "long", 3);
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 1})).step_s, 4);
  const PredictedStep step = predict(g, placed({0, 1}));
  EXPECT_DOUBLE_EQ(step.runs[0].end_s, 2);  // half as fast while both run
  for (CostDevice& d : g.devices) d.pool_cores = 2;
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 1})).step_s, 3);
  g.nodes[0].cores = 2;  // three cores are wanted: two thirds of the pace till 1.5
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 1})).step_s, 3.5);
  g.devices[1].pool_cores = 4;
  EXPECT_THROW(predict(g, placed({0, 1})), Error);
}

TEST(Predict, ALaunchIsTheLeastThatANodeTakes) {
  CostGraph g = on_devices(1);
  g.devices[0].launch_s = 2;
  add(g, "nothing", 0);
  add(g, "little", 0.5);
  add(g, "much", 5);
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 0, 0})).step_s, 7);
}

TEST(Predict, AnIslandIsLaunchedOnceAndHandsOverAtItsEnd) {
  CostGraph g = on_devices(2);
  g.devices[0].launch_s = 2;
  add(g, "a", 0.5, {4});
  add(g, "b", 2.5, {4});
  add(g, "c", 1, {4});
  g.edges = {{0, 1, 4}, {0, 2, 4}};
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 0, 1})).step_s, 7);  // 2, then 4 to c: before b ends at 4.5
  g.nodes[0].island = g.nodes[1].island = 0;
  const PredictedStep step = predict(g, placed({0, 0, 1}));
  EXPECT_DOUBLE_EQ(step.step_s, 8);  // 3, then 4 to c
  EXPECT_EQ(step.runs[0].node, 0);
  EXPECT_DOUBLE_EQ(step.runs[0].end_s, step.runs[1].start_s);
  ASSERT_EQ(step.copies.size(), 1u);
  EXPECT_EQ(step.copies[0].node, 0);
}

TEST(Predict, AnIslandThatWaitsForItselfIsAnError) {
  CostGraph g = on_devices(2);
  for (const char* name : {"a", "b", "c"}) add(g, name, 1);
  g.edges = {{0, 1, 1}, {1, 2, 1}};
  g.nodes[0].island = g.nodes[2].island = 0;
  try {
    predict(g, placed({0, 1, 0}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("island"), std::string::npos) << e.message();
  }
}

TEST(Predict, AnOutputGoesToADeviceOnce) {
  for (const bool serial : {false, true}) {
    CostGraph g = on_devices(2);
    g.serial_links = serial;
    add(g, "a", 1, {4, 2});
    add(g, "b", 1);
    add(g, "c", 1);
    add(g, "d", 1);
    g.edges = {{0, 1, 4, 0}, {0, 2, 4, 0}, {0, 3, 2, 1}};
    const PredictedStep step = predict(g, placed({0, 1, 1, 1}));
    ASSERT_EQ(step.copies.size(), 2u);
    EXPECT_DOUBLE_EQ(step.copies[1].start_s, serial ? 5 : 1);
    EXPECT_DOUBLE_EQ(step.copies[1].bytes, serial ? 2 : 2);
  }
}

// a makes 8 bytes, b 4 of them, c 2 of those.
CostGraph chain() {
  CostGraph g = on_devices(2);
  add(g, "a", 1, {8});
  add(g, "b", 1, {4});
  add(g, "c", 1, {2});
  g.edges = {{0, 1, 8}, {1, 2, 4}};
  return g;
}

TEST(Predict, ATensorLivesTillItsLastReaderEnds) {
  CostGraph g = chain();
  g.nodes[0].memory = 100;
  const auto device = predict(g, placed({0, 0, 0})).devices[0];
  EXPECT_DOUBLE_EQ(device.kept_bytes, 100);
  EXPECT_DOUBLE_EQ(device.peak_bytes, 112);
  EXPECT_DOUBLE_EQ(device.peak_at_s, 1);
  ASSERT_EQ(device.at_peak.size(), 3u);
  EXPECT_EQ(device.at_peak[1].node, 0);
  EXPECT_DOUBLE_EQ(device.at_peak[1].bytes, 8);
  EXPECT_EQ(device.at_peak[2].node, 1);
  EXPECT_DOUBLE_EQ(device.least_bytes, 112);
  EXPECT_EQ(device.least_node, 1);
}

TEST(Predict, WhatIsComputedInPlaceTakesNoMemory) {
  CostGraph g = chain();
  g.nodes[1].in_place = 0;
  g.nodes[2].in_place = 1;
  const PredictedStep step = predict(g, placed({0, 0, 0}));
  EXPECT_DOUBLE_EQ(step.devices[0].peak_bytes, 8);
  EXPECT_DOUBLE_EQ(step.devices[0].least_bytes, 8);
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 1, 1})).devices[1].peak_bytes, 12);  // the copy, and b's
}

TEST(Predict, ACopyTakesMemoryOnBothSides) {
  const PredictedStep step = predict(chain(), placed({0, 1, 1}));
  EXPECT_DOUBLE_EQ(step.devices[0].peak_bytes, 8);
  EXPECT_DOUBLE_EQ(step.devices[1].peak_bytes, 12);
  EXPECT_TRUE(step.devices[1].at_peak[0].copy);
}

TEST(Predict, WhatIsFetchedStaysTillTheEnd) {
  CostGraph g = chain();
  g.nodes[0].fetched = true;
  EXPECT_DOUBLE_EQ(predict(g, placed({0, 0, 0})).devices[0].peak_bytes, 14);
}

TEST(Predict, GivesATimelineInTheFormOfAMeasuredOne) {
  const CostGraph g = chain();
  const RunMetadata step = timeline(g, predict(g, placed({0, 1, 1})));
  ASSERT_EQ(step.nodes.size(), 4u);
  EXPECT_EQ(step.nodes[1].device, "/device:CPU:1");
  EXPECT_EQ(step.nodes[1].start_ns, 9'000'000'000);
  EXPECT_EQ(step.nodes[3].op, "Copy");
  EXPECT_EQ(step.nodes[3].bytes, 8);
}

TEST(Predict, NodesOfSeveralSlotsRunInSeveralLanes) {
  CostGraph g = on_devices(1);
  g.devices[0].slots = 2;
  for (const char* name : {"a", "b", "c"}) add(g, name, 1);
  const PredictedStep step = predict(g, placed({0, 0, 0}));
  EXPECT_EQ(step.runs[0].lane + step.runs[1].lane, 1);
  EXPECT_DOUBLE_EQ(step.devices[0].busy_s, 2);
}

// The evaluator by definition, for one slot a device, an order, and links that carry all at once:
// every node starts when its device's last one has ended and all its inputs are there.
double by_definition(const CostGraph& g, const Plan& p) {
  std::vector<double> free(g.devices.size(), 0), end(g.nodes.size(), 0);
  double last = 0;
  for (const int i : p.order) {
    double start = free[p.device[i]];
    for (const CostEdge& e : g.edges)
      if (e.dst == i)
        start = std::max(start, end[e.src] + (p.device[e.src] == p.device[i]
                                                  ? 0
                                                  : g.default_link.latency_s +
                                                        e.bytes / g.default_link.bytes_per_s));
    last = std::max(last, free[p.device[i]] = end[i] = start + g.nodes[i].time[0].second);
  }
  return last;
}

TEST(Predict, AgreesWithTheDefinitionOnRandomGraphs) {
  Random random(5);
  for (int k = 0; k < 3000; ++k) {
    CostGraph g = on_devices(1 + random.below(4));
    g.default_link = {random.below(3) * 0.25, 1.0 + random.below(4)};
    Plan p;
    const int nodes = 1 + random.below(30);
    for (int i = 0; i < nodes; ++i) {
      add(g, "n" + std::to_string(i), random.below(9));
      p.device.push_back(random.below(int(g.devices.size())));
      p.order.push_back(i);
      for (int j = 0; j < i; ++j)
        if (random.below(4) == 0) g.edges.push_back({j, i, double(random.below(9))});
    }
    const double value = by_definition(g, p);
    EXPECT_NEAR(plan_value(g, p), value, 1e-9 * value);
    EXPECT_NEAR(predict(g, p).step_s, value, 1e-9 * value);
  }
}

// A line of tests/golden/placement/steps.txt, which says what stands where.
struct GoldenStep {
  explicit GoldenStep(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::istringstream> field;
    for (std::string text; std::getline(in, text, '|');) field.emplace_back(text);
    field.at(0) >> graph.serial_links >> graph.through_host;
    int slots = 0;
    for (std::string type; field.at(1) >> type >> slots;)
      graph.devices.push_back({"/device:" + type + ":" + std::to_string(graph.devices.size()), type,
                               std::nullopt, slots ? std::optional(slots) : std::nullopt});
    field.at(2) >> graph.default_link.latency_s >> graph.default_link.bytes_per_s;
    CostLinkPair pair;
    while (field.at(3) >> pair.src >> pair.dst >> pair.link.latency_s >> pair.link.bytes_per_s >>
           pair.link.channel) {
      if (pair.link.channel == "-") pair.link.channel.clear();
      graph.links.push_back(pair);
    }
    for (double time = 0; field.at(4) >> time;) {
      if (graph.nodes.empty() || graph.nodes.back().time.size() == graph.devices.size())
        graph.nodes.push_back({"n" + std::to_string(graph.nodes.size()), {}});
      auto& times = graph.nodes.back().time;
      times.emplace_back(graph.devices[times.size()].name, time);
    }
    CostEdge edge;
    while (field.at(5) >> edge.src >> edge.dst >> edge.bytes) graph.edges.push_back(edge);
    for (int d = 0; field.at(6) >> d;) plan.device.push_back(d);
    for (int i = 0; field.at(7) >> i;) plan.order.push_back(i);
    field.at(8) >> value;
  }
  CostGraph graph;
  Plan plan;
  double value = -1;
};

TEST(Predict, AgreesWithAnEvaluatorOfOthersOnRandomGraphs) {
  std::ifstream file(source_dir() + "/tests/golden/placement/steps.txt");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const GoldenStep golden(line);
    EXPECT_NEAR(plan_value(golden.graph, golden.plan), golden.value, 1e-9 * golden.value) << line;
    EXPECT_NEAR(predict(golden.graph, golden.plan).step_s, golden.value, 1e-9 * golden.value);
    ++count;
  }
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace emplace
