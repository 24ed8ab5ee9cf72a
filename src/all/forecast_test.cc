#include <algorithm>

#include "all/session_fixture.h"
#include "emplace/contract.h"
#include "emplace/what_if.h"

namespace emplace {
namespace {

constexpr int kMiB = 1 << 18;  // floats

// Variables of 4 MiB each, on GPU:0 of 16 MiB unless something else is said, and their sum.
class ForecastTest : public testing::SessionFixture {
 protected:
  Output sum_of(int count) {
    std::vector<Output> values;
    for (int i = 0; i < count; ++i) {
      const VariableNodes v = variable(DType::kFloat, Shape{4 * kMiB}, "v" + std::to_string(i));
      values.push_back(v.value);
    }
    return reduce_sum(add_n(values), {0});
  }
  static VariableNodes variable(DType type, const Shape& shape, const std::string& name) {
    return emplace::variable(Tensor(type, shape), name);
  }
};

TEST_F(ForecastTest, NamesWhatIsHeldWhere) {
  const Scope gpu = graph.device("/gpu:0");
  const Output sum = sum_of(2);
  auto s = session(gpus(1));
  const Forecast f = forecast(*s, std::span(&sum, 1));
  const auto device = std::ranges::find_if(f.devices, [](const DeviceForecast& d) {
    return d.device.ends_with("GPU:0");
  });
  ASSERT_NE(device, f.devices.end());
  EXPECT_NEAR(double(device->kept), 8 << 20, 64);  // and the axes
  EXPECT_GE(device->peak, 12 << 20);  // and the sum
  EXPECT_LE(device->least, device->peak);
  EXPECT_EQ(device->limit, 16 << 20);
  EXPECT_EQ(device->holders[0].bytes, 4 << 20);
  EXPECT_FALSE(f.guessed);
  EXPECT_GT(f.step_s, 0);
}

TEST_F(ForecastTest, CountsOnNoGuessedSize) {
  const Output x = placeholder(DType::kFloat, Shape{-1, kMiB}, "x");
  const Output y = reduce_sum(x * x, {0, 1});
  auto s = session();
  const Forecast f = forecast(*s, std::span(&y, 1));
  EXPECT_TRUE(f.guessed);
  EXPECT_LT(f.devices.at(0).least, 1 << 10);
  EXPECT_GT(f.devices.at(0).peak, 1 << 20);
}

TEST_F(ForecastTest, AStepThatCannotFitIsRefusedBeforeItRuns) {
  const Scope gpu = graph.device("/gpu:0");
  const Output sum = sum_of(5);
  auto s = session(gpus(2));
  const Error e = error_of([&] { s->run(sum); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted);
  EXPECT_NE(e.message().find("GPU:0 can't hold this step: it has 16.0 MiB, and needs 20.0 MiB for "
                             "variables, "), std::string::npos) << e.message();
  EXPECT_NE(e.message().find("Largest: v0 (4.0 MiB), "), std::string::npos) << e.message();
  EXPECT_NE(e.message().find("the 2 devices of type GPU have 32.0 MiB: placer 'dynamic'"),
            std::string::npos) << e.message();
  EXPECT_EQ(e.node(), "v0");
  EXPECT_NE(e.source().find("forecast_test.cc:"), std::string::npos) << e.source();
}

TEST_F(ForecastTest, OneDeviceAloneIsToldWhatWouldHoldIt) {
  const Scope gpu = graph.device("/gpu:0");
  const Output sum = sum_of(5);
  auto s = session(gpus(1));
  const Error e = error_of([&] { s->run(sum); });
  EXPECT_NE(e.message().find("; a device of 2"), std::string::npos) << e.message();
  EXPECT_NE(e.message().find(" MiB would hold it"), std::string::npos) << e.message();
}

TEST_F(ForecastTest, WhatFitsRuns) {
  const Scope gpu = graph.device("/gpu:0");
  std::vector<Node*> initializers;
  std::vector<Output> values;
  for (int i = 0; i < 2; ++i) {
    const VariableNodes v = emplace::variable(Tensor::of({1.f, 2.f}, {2}), "w" + std::to_string(i));
    initializers.push_back(v.initializer);
    values.push_back(v.value);
  }
  const Output sum = reduce_sum(add_n(values), {0});
  auto s = session(gpus(1));
  s->run({}, {}, initializers);
  EXPECT_EQ(s->run(sum).item<float>(), 6.f);
}

TEST_F(ForecastTest, PeaksCanBeDemanded) {
  const Scope gpu = graph.device("/gpu:0");
  const Output sum = sum_of(1);
  auto s = session(gpus(1));
  require(*s, {.ops = "v0", .max_peak = 1 << 20});
  const Error e = error_of([&] { s->run(sum); });
  EXPECT_EQ(e.code(), Code::kFailedPrecondition);
  EXPECT_NE(e.message().find(" held at once, 1.0 MiB allowed: v0 (4.0 MiB)"), std::string::npos)
      << e.message();
}

}  // namespace
}  // namespace emplace
