// What a loop keeps for its gradient, on a logical GPU that has no room for it.
#include <gtest/gtest.h>

#include "all/cuda.h"
#include "backends/cpu/golden_testutil.h"
#include "emplace/emplace.h"

namespace emplace {
namespace {

constexpr int kRounds = 60;
constexpr int64_t kRows = 1024;  // of 4 KiB: 4 MiB a round

class CudaSwap : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!uses_cards({})) GTEST_SKIP() << "no card here: " << cuda_state().problem;
  }
};

// As a loop and its gradient: every value is laid on a stack, then taken from it, last first.
struct ThereAndBack {
  Graph graph;
  Output x, y;

  ThereAndBack(const char* device, bool swap) {
    const Scope in = graph.as_default(), on = graph.device(device);
    x = placeholder(DType::kFloat, Shape{kRows, 1024}, "x");
    const Output stack = graph
                             .add("StackV2", {constant(Tensor::scalar<int32_t>(-1))},
                                  {{"elem_type", DType::kFloat}})
                             ->output();
    Output v = x;
    for (int i = 0; i < kRounds; ++i) {
      const Output kept =
          graph.add("StackPushV2", {stack, v}, {{"swap_memory", swap}, {"T", DType::kFloat}})
              ->output();
      v = kept * constant(0.875f) + constant(0.25f);
    }
    for (int i = 0; i < kRounds; ++i) {
      const Scope after = graph.control_dependencies(std::vector<Node*>{v.node});
      const Output kept =
          graph.add("StackPopV2", {stack}, {{"elem_type", DType::kFloat}})->output();
      v = v * constant(0.5f) + kept;
    }
    y = v;
  }
};

Tensor start(float first) {
  Tensor t(DType::kFloat, Shape{kRows, 1024});
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<float>()[i] = first + static_cast<float>(i * 7919 % 10007) / 5003.5f;
  return t;
}

SessionOptions small() {
  SessionOptions o;
  o.gpu_options.virtual_devices = {{128.f}};
  return o;
}

TEST_F(CudaSwap, WithoutItMemoryRunsOut) {
  ThereAndBack g("/gpu:0", false);
  Session s(g.graph, small());
  try {
    s.run({{g.x, start(0)}}, std::span(&g.y, 1));
    ADD_FAILURE() << "240 MiB fitted into 128";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
  }
}

TEST_F(CudaSwap, WhatIsKeptWaitsInHostMemory) {
  ThereAndBack on_cpu("/cpu:0", false), on_card("/gpu:0", true);
  Session cpu(on_cpu.graph, {}), card(on_card.graph, small());
  for (int i = 0; i < 5; ++i) {
    const Tensor x = start(static_cast<float>(i));
    const Tensor want = cpu.run({{on_cpu.x, x}}, std::span(&on_cpu.y, 1))[0];
    const Tensor got = card.run({{on_card.x, x}}, std::span(&on_card.y, 1))[0];
    EXPECT_EQ(cpu::difference(got, want, 100), "") << i;
  }
}

// Stacks that are never emptied: what was under way to the host when the step ended does no harm.
TEST_F(CudaSwap, AStackThatIsForgottenGivesItsMemoryBack) {
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{kRows, 1024}, "x");
  const Output stack = g.add("StackV2", {constant(Tensor::scalar<int32_t>(-1))},
                             {{"elem_type", DType::kFloat}})
                           ->output();
  Output v = x;
  for (int i = 0; i < kRounds; ++i)
    v = g.add("StackPushV2", {stack, v}, {{"swap_memory", true}, {"T", DType::kFloat}})->output() *
        constant(0.5f);
  Session s(g, small());
  std::string first;
  for (int i = 0; i < 8; ++i) {
    const std::string got = s.run({{x, start(1)}}, std::span(&v, 1))[0].str();
    if (i == 0) first = got;
    EXPECT_EQ(got, first);
  }
}

}  // namespace
}  // namespace emplace
