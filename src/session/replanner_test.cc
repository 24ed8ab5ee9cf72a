#include "session/replanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/cpu_info.h"
#include "emplace/emplace.h"
#include "placement/cost_source.h"
#include "session/move_variables.h"

namespace emplace {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// Everything takes as long as its device says; GPU:0 becomes slow when told.
class Told final : public CostSource {
 public:
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override {
    if (node.type() == "Const" || node.type() == "VariableV2" || node.type() == "VarHandleOp")
      return NodeCost{0};
    if (level_ && device.type == "GPU") return NodeCost{40e-6, 0, true};  // on one core
    const bool slow = device.name.ends_with(slow_.load() ? "GPU:0" : "GPU:1");
    return NodeCost{device.type == "CPU" ? 5.0 : slow ? 1.0 : 0.1, spread_.load(), true};
  }
  double bytes(const Node&, int) const override { return 16; }
  CostLink link(const DeviceInfo&, const DeviceInfo&) const override { return {1e-6, 1e9}; }
  void turn() { slow_ = true; }
  void doubt() { spread_ = 100; }
  void level() { level_ = true; }  // both are fast

 private:
  std::atomic<bool> slow_{false}, level_{false};
  std::atomic<double> spread_{0};
};

class Replanning : public ::testing::Test {
 protected:
  Replanning() { open(5); }
  void open(int replan_after_steps) {
    session.reset();
    SessionOptions o;
    o.virtual_gpus = 2;
    o.virtual_gpu_memory = 8 << 20;
    o.placer = "dynamic";
    o.placer_evaluations = 200;
    o.replan_after_steps = replan_after_steps;
    o.log_device_placement = true;
    o.log = [this](const std::string& text) { log += text; };
    graph.emplace();
    const Scope in_graph = graph->as_default();
    Node* const v = graph->add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}},
                              {.name = "v", .control_inputs = {}, .source = {}, .device = {}});
    init = graph->add("Assign", {v->output(), constant({1.f, 2.f, 3.f, 4.f}, Shape{4})}, {{"T", DType::kFloat}});
    add = graph->add("AssignAdd", {v->output(), constant({1.f, 1.f, 1.f, 1.f}, Shape{4})},
                    {{"T", DType::kFloat}});
    session.emplace(*graph, o);
    session->impl().told_costs = costs;
    session->run(init);
  }
  std::string where(std::string_view name) {
    for (const PlacementRow& r : session->placement().rows)
      if (r.node == name) return r.device;
    return "";
  }
  float first() {
    const Tensor now = session->run(add->output());
    return now.data<float>()[0];
  }

  std::shared_ptr<Told> costs = std::make_shared<Told>();
  std::string log;
  std::optional<Graph> graph;
  Node *init = nullptr, *add = nullptr;
  std::optional<Session> session;
};

TEST_F(Replanning, MovesVariablesWithTheirValues) {
  EXPECT_THAT(where("v"), EndsWith("GPU:0"));
  costs->turn();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(first(), 2.f + static_cast<float>(i));
  EXPECT_THAT(where("v"), EndsWith("GPU:1"));
  EXPECT_THAT(where("AssignAdd"), EndsWith("GPU:1"));
  EXPECT_THAT(log, HasSubstr("Placed by cost: a step takes "));
  EXPECT_THAT(log, HasSubstr("Placed again after "));
  EXPECT_THAT(log, HasSubstr("ms instead of "));
}

TEST_F(Replanning, StaysWhereTheGainIsNoLargerThanTheDoubt) {
  costs->turn();
  costs->doubt();
  for (int i = 0; i < 20; ++i) first();
  EXPECT_THAT(where("v"), EndsWith("GPU:0"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr("Placed again")));
}

TEST_F(Replanning, LosesNothingOfWhatThreadsDoMeanwhile) {
  costs->turn();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) session->run(add);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(first(), 2.f + 800);
}

TEST_F(Replanning, LooksAfterAHundredStepsUnlessToldOtherwise) {
  open(0);
  costs->turn();
  for (int i = 0; i < 90; ++i) first();
  EXPECT_THAT(where("v"), EndsWith("GPU:0"));
  for (int i = 0; i < 30; ++i) first();
  EXPECT_THAT(where("v"), EndsWith("GPU:1"));
}

TEST_F(Replanning, NeverLooksIfToldSo) {
  costs = std::make_shared<Told>();
  open(-1);
  costs->turn();
  for (int i = 0; i < 300; ++i) first();
  EXPECT_THAT(where("v"), EndsWith("GPU:0"));
}

// What whole steps take decides: GPU:1 is said to be faster, and is not.
TEST_F(Replanning, GoesBackWhereStepsTurnOutSlower) {
  open(20);
  costs->turn();
  session->impl().told_step_s = [this] {
    return log.find("Placed again") == std::string::npos ? 1e-3 : 5e-3;
  };
  for (int i = 0; i < 200; ++i) ASSERT_EQ(first(), 2.f + static_cast<float>(i));
  EXPECT_THAT(where("v"), EndsWith("GPU:0"));
  EXPECT_THAT(log, HasSubstr("Placed again after 20 steps"));
  EXPECT_THAT(log, HasSubstr("Placed back after "));
  EXPECT_EQ(log.find("Placed again"), log.rfind("Placed again")) << "tried twice";
  for (const PlacementRow& r : session->placement().rows)
    if (r.node == "AssignAdd")
      EXPECT_THAT(r.reason, HasSubstr("measured: a step takes 1 ms, 5 ms as placed otherwise"));
}

// Two chains that look faster on two devices, and are faster on one.
TEST_F(Replanning, TriesOneDeviceWhereStepsOfSeveralCanBeMeasured) {
  if (num_usable_cores() < 2) GTEST_SKIP() << "virtual GPUs of one core gain nothing";
  open(20);
  const Scope in_graph = graph->as_default();
  std::vector<Output> ends;
  for (int k = 0; k < 2; ++k) {
    Output x = op("RandomUniform", {constant({4}, Shape{1})}, {{"dtype", DType::kFloat}});
    for (int i = 0; i < 4; ++i) x = op("Sqrt", {x});
    ends.push_back(x);
  }
  const Output sum = add_n(ends);
  costs->level();
  session->impl().told_step_s = [this] {
    return log.find("to see") == std::string::npos ? 50e-3 : 10e-3;
  };
  const auto devices = [&] {
    std::set<std::string> all;
    for (const PlacementRow& r : session->placement(std::span(&sum, 1)).rows)
      if (r.op == "Sqrt") all.insert(r.device);
    return all;
  };
  session->run(sum);
  EXPECT_EQ(devices().size(), 2u);
  for (int i = 0; i < 200; ++i) session->run(sum);
  EXPECT_EQ(devices().size(), 1u);
  EXPECT_THAT(log, HasSubstr("Placed on one device to see after "));
}

// Random numbers go on where they were, and a queue keeps what is in it.
TEST_F(Replanning, KeepsOtherStateThanVariables) {
  const Scope in_graph = graph->as_default();
  Node* const numbers = graph->add("RandomUniform", {constant({2}, Shape{1})},
                                   {{"dtype", DType::kFloat}, {"T", DType::kInt32}, {"seed", 3}, {"seed2", 4}});
  Node* const queue = graph->add("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  Node* const put = graph->add("QueueEnqueueV2", {queue->output(), constant(7.f)}, {{"Tcomponents", std::vector<DType>{DType::kFloat}}});
  Node* const take = graph->add("QueueDequeueV2", {queue->output()}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  SessionOptions simple;
  simple.placer = "simple";
  Session alone(*graph, simple);
  session->run(put);
  costs->turn();
  for (int i = 0; i < 20; ++i) {
    first();
    const Tensor here = session->run(numbers->output()), there = alone.run(numbers->output());
    ASSERT_EQ(here.data<float>()[1], there.data<float>()[1]) << i;
  }
  EXPECT_THAT(log, HasSubstr("Placed again after "));
  const Tensor taken = session->run(take->output());
  EXPECT_EQ(taken.data<float>()[0], 7.f);
}

TEST_F(Replanning, MovesAFewTimesAtMost) {
  for (int i = 0; i < 300; ++i) {
    if (i == 4) costs->turn();
    first();
  }
  size_t moves = 0;
  for (size_t at = 0; (at = log.find("Placed again", at)) != std::string::npos; ++at) ++moves;
  EXPECT_EQ(moves, 1u);
}

}  // namespace
}  // namespace emplace
