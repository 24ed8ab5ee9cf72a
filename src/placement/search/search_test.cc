#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/error.h"
#include "emplace/plan.h"
#include "placement/search/budget.h"

namespace emplace {
namespace {

using planning::Random;

CostNode node(const std::string& name, double cpu, double gpu, double memory = 0) {
  CostNode n{name, {{"CPU", cpu}}, memory};
  if (gpu > 0) n.time.emplace_back("GPU", gpu);
  return n;
}

CostGraph two_devices() {
  CostGraph g;
  g.name = "two";
  g.devices = {{"/device:CPU:0", "CPU", std::nullopt, 1}, {"/device:CPU:1", "CPU", std::nullopt, 1}};
  g.default_link = {0, 1};
  return g;
}

// Some nodes, devices, pins, groups and limits of memory, any model; sizes are whole numbers.
CostGraph random_case(Random& random) {
  CostGraph g;
  g.name = "random";
  g.model = PlanModel(random.below(3));
  g.serial_links = g.model == PlanModel::kList && random.below(2);
  g.through_host = random.below(2);
  const int devices = 1 + random.below(4), nodes = 1 + random.below(9);
  for (int d = 0; d < devices; ++d) {
    const std::string type = random.below(2) ? "GPU" : "CPU";
    CostDevice device{"/device:" + type + ":" + std::to_string(d), type, std::nullopt, 1};
    if (random.below(3) == 0) device.memory = 10 + random.below(40);
    if (random.below(5) == 0) device.slots = 2;
    if (random.below(6) == 0) device.slots.reset();
    g.devices.push_back(device);
  }
  g.default_link = {random.below(3) * 0.5, 1.0 + random.below(4)};
  if (devices > 1 && random.below(3) == 0)
    g.links.push_back({0, 1, {1, 2, random.below(2) ? "bus" : ""}});
  g.groups = {"a", "b"};
  for (int i = 0; i < nodes; ++i) {
    CostNode n = node("n" + std::to_string(i), 1 + random.below(9), random.below(3) ? 1 + random.below(5) : 0,
                      random.below(12));
    if (random.below(6) == 0) n.pin = g.devices[random.below(devices)].name;
    if (random.below(4) == 0) n.group = random.below(2);
    g.nodes.push_back(n);
  }
  for (int b = 1; b < nodes; ++b)
    for (int a = 0; a < b; ++a)
      if (random.below(3) == 0) g.edges.push_back({a, b, double(random.below(10))});
  return g;
}

TEST(Plan, KeepsEveryConstraintInTenThousandRandomCases) {
  Random random(1);
  int planned = 0, refused = 0;
  for (int k = 0; k < 10'000; ++k) {
    const CostGraph g = random_case(random);
    PlanOptions options;
    options.evaluations = 60;
    try {
      const Plan p = plan(g, options);
      EXPECT_DOUBLE_EQ(plan_value(g, p), p.value);  // which checks the constraints
      EXPECT_LE(p.bound, p.value * (1 + 1e-9));
      ++planned;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kInvalidArgument || e.code() == Code::kResourceExhausted)
          << e.what();
      EXPECT_NE(e.message().find("n"), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(planned, 3000);
  EXPECT_GT(refused, 100);
}

// The least value over all placements; for lists over all orders by index too.
double best_by_trial(const CostGraph& g) {
  Plan p;
  p.device.assign(g.nodes.size(), 0);
  double best = INFINITY;
  for (;;) {
    std::vector<int> order(g.nodes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = int(i);
    do {
      p.order = order;
      try {
        best = std::min(best, plan_value(g, p));
      } catch (const Error&) {
      }
    } while (g.model == PlanModel::kList && std::next_permutation(order.begin(), order.end()));
    size_t i = 0;
    while (i < p.device.size() && ++p.device[i] == int(g.devices.size())) p.device[i++] = 0;
    if (i == p.device.size()) return best;
  }
}

TEST(Plan, FindsTheOptimumOfTinyCases) {
  Random random(7);
  int tried = 0;
  for (int k = 0; tried < 60; ++k) {
    CostGraph g = random_case(random);
    if (g.nodes.size() > 5 || g.model == PlanModel::kCalls || g.serial_links) continue;
    PlanOptions options;
    options.evaluations = 3000;
    try {
      const Plan p = plan(g, options);
      const double best = best_by_trial(g);
      EXPECT_NEAR(p.value, best, 1e-9) << k;
      EXPECT_LE(p.bound, best * (1 + 1e-9)) << k;
      ++tried;
    } catch (const Error&) {
    }
  }
}

TEST(Plan, GoesOnFromAnEarlierPlan) {
  Random random(3);
  for (int k = 0; k < 300; ++k) {
    CostGraph g = random_case(random);
    PlanOptions options;
    options.evaluations = 300;
    try {
      const Plan first = plan(g, options);
      for (CostNode& n : g.nodes)
        for (auto& [who, seconds] : n.time) seconds *= 1 + 0.02 * random.below(3);
      options.start = &first;
      options.evaluations = 8;
      const Plan next = plan(g, options);
      EXPECT_DOUBLE_EQ(plan_value(g, next), next.value);
      EXPECT_LE(next.value, plan_value(g, first) * (1 + 1e-12)) << k;
    } catch (const Error&) {  // no plan
    }
  }
}

TEST(Plan, MovesWhatAnEarlierPlanMayNoLongerHave) {
  CostGraph g = two_devices();
  g.nodes = {node("a", 1, 0, 6), node("b", 1, 0, 6)};
  PlanOptions options;
  Plan start;
  start.device = {0, 0};
  options.start = &start;
  g.nodes[0].pin = "/device:CPU:1";
  EXPECT_EQ(plan(g, options).device[0], 1);
  g.nodes[0].pin.clear();
  g.devices[0].memory = g.devices[1].memory = 10;
  const Plan p = plan(g, options);
  EXPECT_NE(p.device[0], p.device[1]);
  for (const std::vector<int>& bad : {std::vector{0}, {0, 2}, {0, -1}}) {
    start.device = bad;
    EXPECT_THROW(plan(g, options), Error);
  }
  start.device = {0, 1};
  start.order = {0, 0};
  EXPECT_THROW(plan(g, options), Error);
}

TEST(Plan, IsTheSameForTheSameSeedAndEvaluations) {
  Random random(3);
  for (int k = 0; k < 50; ++k) {
    const CostGraph g = random_case(random);
    PlanOptions options;
    options.evaluations = 500;
    options.seed = 9;
    try {
      const Plan a = plan(g, options), b = plan(g, options);
      EXPECT_EQ(a.device, b.device);
      EXPECT_EQ(a.order, b.order);
      EXPECT_EQ(a.call, b.call);
    } catch (const Error&) {
    }
  }
}

TEST(Plan, SaysWhichNodesHaveNoRoomAndHowManyBytesAreMissing) {
  CostGraph g = two_devices();
  g.devices[0].memory = g.devices[1].memory = 100;
  g.nodes = {node("small", 1, 0, 60), node("other", 1, 0, 70), node("large", 1, 0, 90)};
  try {
    plan(g);
    FAIL() << "three do not fit two";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_NE(e.message().find("'small' (60 bytes): 30 bytes are missing"), std::string::npos)
        << e.message();
    EXPECT_NE(e.message().find("20 more than all devices have"), std::string::npos) << e.message();
  }
}

TEST(Plan, FindsAPackingWhereTheFirstFitFails) {
  CostGraph g = two_devices();
  g.devices[0].memory = g.devices[1].memory = 10;
  for (double m : {6, 4, 4, 3, 3}) g.nodes.push_back(node("n" + std::to_string(g.nodes.size()), 1, 0, m));
  EXPECT_NO_THROW(plan_value(g, plan(g)));
}

TEST(Plan, RefusesACycleByName) {
  CostGraph g = two_devices();
  g.nodes = {node("a", 1, 0), node("b", 1, 0)};
  g.edges = {{0, 1, 1}, {1, 0, 1}};
  try {
    plan(g);
    FAIL() << "a cycle";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "Node 'a' waits for itself: the graph has a cycle");
  }
}

TEST(Plan, ProvesWhatAPathBounds) {
  CostGraph g = two_devices();
  g.nodes = {node("a", 2, 0), node("b", 3, 0), node("c", 1, 0)};
  g.edges = {{0, 1, 10}, {0, 2, 10}, {1, 2, 0}};
  const Plan p = plan(g);
  EXPECT_DOUBLE_EQ(p.value, 6);
  EXPECT_TRUE(p.optimal);
  EXPECT_EQ(plan_quality(p), "optimal");
}

TEST(Plan, NeverIsWorseThanTheDeviceThatHoldsAll) {
  Random random(5);
  for (int k = 0; k < 300; ++k) {
    CostGraph g = random_case(random);
    PlanOptions options;
    options.evaluations = 40;
    for (CostDevice& d : g.devices) d.memory.reset();
    for (CostNode& n : g.nodes) n.pin.clear();
    Plan all;
    const Plan p = [&] {
      try {
        return plan(g, options);
      } catch (const Error&) {
        return Plan{};
      }
    }();
    if (p.device.empty()) continue;
    for (size_t d = 0; d < g.devices.size(); ++d) {
      all.device.assign(g.nodes.size(), int(d));
      try {
        EXPECT_LE(p.value, plan_value(g, all) * (1 + 1e-12));
      } catch (const Error&) {
      }
    }
  }
}

// A layered graph of many nodes on unlike devices.
TEST(Plan, TakesAHundredThousandNodes) {
  Random random(2);
  CostGraph g = two_devices();
  g.devices.push_back({"/device:GPU:0", "GPU", std::nullopt, 1});
  for (int i = 0; i < 100'000; ++i) {
    g.nodes.push_back(node("n" + std::to_string(i), 1 + random.below(9), 1 + random.below(4)));
    for (int e = 0; i > 20 && e < 2; ++e) g.edges.push_back({i - 1 - random.below(20), i, 1});
  }
  PlanOptions options;
  options.evaluations = 3;
  const Plan p = plan(g, options);
  EXPECT_DOUBLE_EQ(plan_value(g, p), p.value);
}

}  // namespace
}  // namespace emplace
