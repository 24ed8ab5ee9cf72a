#include "all/flow_fixture.h"

#include <thread>

#include "base/host_cache.h"

namespace emplace {
namespace {

using testing::calls;
using testing::FlowFixture;
TEST_F(FlowFixture, OnlyTheChosenBranchRuns) {
  const auto then_do = body("then", {kFloats}, [](Values v) {
    return Values{op("CountCalls", {v[0]})};
  });
  const auto else_do =
      body("else", {kFloats}, [](Values v) { return Values{times(v[0], constant(10.f))}; });
  const Output p = placeholder(DType::kBool, Shape{});
  Node* chosen = if_else(p, then_do, else_do, {constant(4.f)}, {kFloats});
  auto s = session();
  const int64_t before = calls();
  EXPECT_EQ(s->run(chosen->output(), {{p, Tensor::scalar(false)}}).item<float>(), 40.f);
  EXPECT_EQ(calls(), before);
  EXPECT_EQ(s->run(chosen->output(), {{p, Tensor::scalar(true)}}).item<float>(), 4.f);
  EXPECT_GT(calls(), before);
}

TEST_F(FlowFixture, ABranchThatDoesNotFitItsShapesOnlyFailsWhenItIsTaken) {
  const auto then_do = body("then", {kFloats}, [](Values v) {
    return Values{op("MatMul", {v[0], constant({1.f, 2.f}, {2, 1})})};
  });
  const auto else_do = body("else", {kFloats}, [](Values v) { return Values{v[0]}; });
  const Output p = placeholder(DType::kBool, Shape{});
  const Output x = placeholder(kFloats, Shape{Shape::kUnknown, Shape::kUnknown});
  Node* chosen = if_else(p, then_do, else_do, {x}, {kFloats});
  auto s = session();
  const Tensor value(kFloats, Shape{1, 3});
  std::fill_n(value.data<float>(), 3, 1.f);
  EXPECT_EQ(s->run(chosen->output(), {{p, Tensor::scalar(false)}, {x, value}}).str(), "[[1. 1. 1.]]");
  const Error e = error_of(
      [&] { s->run(chosen->output(), {{p, Tensor::scalar(true)}, {x, value}}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
}

TEST_F(FlowFixture, ALoopCounts) {
  const Output n = placeholder(DType::kInt32, Shape{});
  Node* loop = counter(n);
  auto s = session();
  for (int32_t count : {0, 1, 2, 17, 1000})
    EXPECT_EQ(s->run(loop->output(), {{n, Tensor::scalar(count)}}).item<int32_t>(), count);
}

TEST_F(FlowFixture, ATraceHasEveryRoundAndNothingThatDidNotRun) {
  const Output n = placeholder(DType::kInt32, Shape{});
  Node* loop = counter(n);
  const std::vector<DType> none;
  Node* branch = if_else(constant(Tensor::scalar(true)),
                         body("then", none, [](Values) { return Values{op("Neg", {number(1)})}; }),
                         body("else", none, [](Values) { return Values{op("Abs", {number(1)})}; }),
                         {}, {DType::kInt32});
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  session()->run(Feeds{{n, Tensor::scalar(5)}},
                 std::vector<Output>{loop->output(), branch->output()}, {}, o, &m);
  std::map<std::string, int> times;
  for (const NodeStats& s : m.nodes) {
    ++times[s.op];
    EXPECT_GE(s.start_ns, 0) << s.node;
    EXPECT_GE(s.end_ns, s.start_ns) << s.node;
  }
  EXPECT_EQ(times["AddV2"], 5);
  EXPECT_EQ(times["Less"], 6);
  EXPECT_EQ(times["Abs"], 0);
}

TEST_F(FlowFixture, AMillionRoundsTakeNoMemory) {
  const Output n = placeholder(DType::kInt32, Shape{});
  Node* loop = counter(n);
  auto s = session();
  s->run(loop->output(), {{n, Tensor::scalar(int32_t{10})}});
  const auto before = host_cache_stats().system_allocs;
  EXPECT_EQ(s->run(loop->output(), {{n, Tensor::scalar(int32_t{1'000'000})}}).item<int32_t>(),
            1'000'000);
  EXPECT_EQ(host_cache_stats().system_allocs, before);
}

TEST_F(FlowFixture, LoopsNest) {
  const std::vector<DType> types = {DType::kInt32, DType::kInt32};
  const auto inner_test =
      body("inner_test", types, [](Values v) { return Values{less(v[0], number(3))}; });
  const auto inner_body = body("inner_body", types, [](Values v) {
    return Values{plus(v[0], number(1)), plus(v[1], v[0])};
  });
  const auto outer_test =
      body("outer_test", types, [](Values v) { return Values{less(v[0], number(5))}; });
  const auto outer_body = body("outer_body", types, [&](Values v) {
    Node* inner = Graph::current().add("While", Values{number(0), v[1]},
                                       {{"T", std::vector<DType>{DType::kInt32, DType::kInt32}},
                                        {"cond", FunctionName{inner_test, {}}},
                                        {"body", FunctionName{inner_body, {}}}});
    return Values{plus(v[0], number(1)), inner->output(1)};
  });
  Node* loop = while_loop(outer_test, outer_body, {number(0), number(100)});
  EXPECT_EQ(session()->run(loop->output(1)).item<int32_t>(), 115);
  EXPECT_EQ(session(gpus(2))->run(loop->output(1)).item<int32_t>(), 115);
}

// Round after round over two devices and the host.
TEST_F(FlowFixture, ALoopSpansDevices) {
  const std::vector<DType> types = {DType::kInt32, kFloats};
  const auto test = body("test", types, [](Values v) { return Values{less(v[0], number(20))}; });
  const auto step = body("step", types, [](Values v) {
    Output y;
    {
      const Scope on = Graph::current().device("/gpu:0");
      y = plus(v[1], constant({1.f, 2.f}, {2}));
    }
    const Scope on = Graph::current().device("/gpu:1");
    return Values{plus(v[0], number(1)), times(y, constant({1.f, 0.5f}, {2}))};
  });
  Node* loop = while_loop(test, step, {number(0), constant({0.f, 0.f}, {2})});
  auto s = session(gpus(2));
  for (int i = 0; i < 5; ++i) {
    const Tensor t = s->run(loop->output(1));
    EXPECT_EQ(t.values<float>()[0], 20.f);
    EXPECT_NEAR(t.values<float>()[1], 2.f, 1e-4);
  }
}

TEST_F(FlowFixture, ALoopThatNeverEndsCanBeEnded) {
  const std::vector<DType> types = {DType::kInt32};
  const auto test =
      body("always", types, [](Values) { return Values{constant(Tensor::scalar(true))}; });
  const auto step =
      body("step", types, [](Values v) { return Values{plus(v[0], number(1))}; });
  Node* loop = while_loop(test, step, {number(0)});
  for (const int devices : {0, 1}) {
    auto s = session(gpus(devices));
    RunOptions o;
    o.timeout_in_ms = 30;
    const Output fetch = loop->output();
    const Error e = error_of([&] { s->run({}, std::span(&fetch, 1), {}, o); });
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(s->run(constant(2.f)).item<float>(), 2.f);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      s->close();
    });
    EXPECT_EQ(error_of([&] { s->run(fetch); }).code(), Code::kCancelled);
    other.join();
  }
}

TEST_F(FlowFixture, AnErrorInARoundNamesTheNode) {
  const std::vector<DType> types = {kFloats};
  const auto test = body("test", types, [](Values v) { return Values{less(v[0], constant(3.f))}; });
  const auto step = body("step", types, [](Values v) {
    return Values{op("FailWith", {v[0]}, {{"code", int64_t{9}}}, "broken")};
  });
  Node* loop = while_loop(test, step, {constant(0.f)});
  auto s = session();
  const Error e = error_of([&] { s->run(loop->output()); });
  EXPECT_EQ(e.node(), "While/body/broken");
  EXPECT_EQ(e.code(), Code::kFailedPrecondition);
}

// A loop inside is planned again with each guess at the shapes of the one around it.
TEST_F(FlowFixture, AnErrorInALoopInsideALoopThatGrowsNamesTheNode) {
  const std::vector<DType> types = {DType::kInt32, kFloats};
  const auto inner_test =
      body("inner_test", types, [](Values v) { return Values{less(v[0], number(2))}; });
  const auto inner_body = body("inner_body", types, [](Values v) {
    const Output sum = op("Sum", {v[1], number(0)});
    return Values{plus(v[0], number(1)),
                  plus(v[1], op("FailWith", {sum}, {{"code", int64_t{9}}}, "broken_in_a_loop"))};
  });
  const auto outer_test =
      body("outer_test", types, [](Values v) { return Values{less(v[0], number(3))}; });
  const auto outer_body = body("outer_body", types, [&](Values v) {
    Node* inner = Graph::current().add("While", Values{number(0), v[1]},
                                       {{"T", types},
                                        {"cond", FunctionName{inner_test, {}}},
                                        {"body", FunctionName{inner_body, {}}}});
    return Values{plus(v[0], number(1)),
                  op("ConcatV2", Values{inner->output(1), constant({1.f}, {1}), number(0)}, {{"N", 2}})};
  });
  Node* loop = while_loop(outer_test, outer_body, {number(0), constant({1.f, 2.f}, {2})});
  for (const int devices : {0, 2}) {
    auto s = session(gpus(devices));
    const Error e = error_of([&] { s->run(loop->output(1)); });
    EXPECT_EQ(e.node(), "While/body/While/body/broken_in_a_loop");
  }
}

TEST_F(FlowFixture, AFunctionThatLoopsIntoItselfIsRefused) {
  const std::vector<DType> types = {DType::kInt32};
  const auto test = body("test", types, [](Values v) { return Values{less(v[0], number(3))}; });
  const auto step = body("step", types, [&](Values v) {
    Node* again = Graph::current().add("While", Values{v[0]},
                                       {{"T", std::vector<DType>{DType::kInt32}},
                                        {"cond", FunctionName{"test", {}}},
                                        {"body", FunctionName{"step", {}}}});
    return Values{again->output()};
  });
  Node* loop = while_loop(test, step, {number(0)});
  auto s = session();
  EXPECT_EQ(error_of([&] { s->run(loop->output()); }).code(), Code::kUnimplemented);
}

TEST_F(FlowFixture, WhatIsDeadCanNotBeFetched) {
  const Output p = placeholder(DType::kBool, Shape{});
  Node* split = graph.add("Switch", {constant(1.f), p});
  const Output inside = plus(split->output(1), constant(1.f));
  auto s = session();
  EXPECT_EQ(s->run(inside, {{p, Tensor::scalar(true)}}).item<float>(), 2.f);
  const Error e = error_of([&] { s->run(inside, {{p, Tensor::scalar(false)}}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(), "Retval[0] does not have value");
}

// The ways through are twice as many with each pair; the gates are not.
TEST_F(FlowFixture, GatesBehindTwoOthersEachArePlannedInNoTime) {
  const Output p = placeholder(DType::kBool, Shape{}), q = placeholder(DType::kBool, Shape{});
  const auto open = [&](Output data, Output by) { return graph.add("Switch", {data, by})->output(1); };
  Output a = open(p, p), b = open(q, q);
  for (int i = 0; i < 100; ++i) {
    const Output next = open(a, b);
    b = open(b, a);
    a = next;
  }
  const Feeds feeds{{p, Tensor::scalar(true)}, {q, Tensor::scalar(true)}};
  EXPECT_TRUE(session()->run(op("LogicalAnd", {a, b}), feeds).item<bool>());
}

}  // namespace
}  // namespace emplace
