#include <thread>

#include "all/session_fixture.h"

namespace emplace {
namespace {

class SessionTest : public testing::SessionFixture {
 protected:
  static Output scalar(float v) { return constant(v); }
};

TEST_F(SessionTest, MultipliesMatrices) {
  const Output a = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const Output b = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  EXPECT_EQ(session()->run(matmul(a, b)).str(), "[[22. 28.]\n [49. 64.]]");
}

TEST_F(SessionTest, SumsTowersOfTwoGpusOnTheCpu) {
  std::vector<Output> towers;
  for (const char* d : {"/gpu:2", "/gpu:3"}) {
    const Scope on = graph.device(d);
    const Output a = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
    const Output b = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
    towers.push_back(matmul(a, b));
  }
  const Scope cpu = graph.device("/cpu:0");
  const Output sum = add_n(towers);
  auto s = session(gpus(4));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(s->run(sum).str(), "[[ 44.  56.]\n [ 98. 128.]]");
}

TEST_F(SessionTest, FeedsAndFetchesByShape) {
  const Output x = placeholder(DType::kFloat, Shape{-1, 2}, "x");
  const Output y = x * scalar(3);
  auto s = session();
  EXPECT_EQ(s->run(y, {{x, Tensor::of({1.f, 2.f}, {1, 2})}}).str(), "[[3. 6.]]");
  EXPECT_EQ(s->run(y, {{x, Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2})}}).str(),
            "[[ 3.  6.]\n [ 9. 12.]]");
}

TEST_F(SessionTest, KeepsVariablesBetweenRuns) {
  const VariableNodes v = variable(Tensor::scalar(3.f), "v");
  const Output more = assign_add(v.ref, scalar(2));
  auto s = session();
  EXPECT_EQ(error_of([&] { s->run(v.value); }).code(), Code::kFailedPrecondition);
  s->run(v.initializer);
  EXPECT_EQ(s->run(v.value).item<float>(), 3.f);
  s->run(more.node);
  s->run(more.node);
  EXPECT_EQ(s->run(v.value).item<float>(), 7.f);
}

TEST_F(SessionTest, KeepsVariablesOnAGpu) {
  const Scope gpu = graph.device("/gpu:1");
  const VariableNodes v = variable(Tensor::of({1.f, 2.f}, {2}), "v");
  const Output more = assign_add(v.ref, constant({1.f, 1.f}, {2}));
  auto s = session(gpus(2));
  s->run(v.initializer);
  for (int i = 0; i < 5; ++i) s->run(more.node);
  EXPECT_EQ(s->run(v.value).str(), "[6. 7.]");
}

TEST_F(SessionTest, AFetchedReadIsNotChangedByALaterWrite) {
  const VariableNodes v = variable(Tensor::scalar(1.f), "v");
  const Output more = assign_add(v.ref, scalar(1));
  auto s = session();
  s->run(v.initializer);
  const Tensor before = s->run(v.value);
  s->run(more.node);
  EXPECT_EQ(before.item<float>(), 1.f);
}

TEST_F(SessionTest, ControlDependenciesOrderAReadAfterAWrite) {
  const VariableNodes v = variable(Tensor::scalar(1.f), "v");
  const Output more = assign_add(v.ref, scalar(1));
  Output after;
  {
    const Scope s = graph.control_dependencies(std::span(&more.node, 1));
    after = identity(v.ref);
  }
  auto s = session();
  s->run(v.initializer);
  for (int i = 2; i < 50; ++i) EXPECT_EQ(s->run(after).item<float>(), static_cast<float>(i));
}

// Two operations that wait for each other can only finish when they run at the same time.
class MeetTest : public SessionTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(MeetTest, IndependentOperationsOfOneDeviceRunAtTheSameTime) {
  SessionOptions o = gpus(1);
  o.cpu_sets = {{{0}, -1}};
  o.use_per_session_threads = true;
  o.inter_op_parallelism_threads = 2;
  const Scope on = graph.device(GetParam());
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output both =
      op("Meet", {x}, {{"party", 2}}) + op("Meet", {x}, {{"party", 2}});
  auto s = session(o);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(s->run(both, {{x, Tensor::scalar(2.f)}}).item<float>(), 4.f);
}

INSTANTIATE_TEST_SUITE_P(Devices, MeetTest, ::testing::Values("/cpu:0", "/cpu:1", "/gpu:0"),
                         [](const auto& p) {
                           return std::string(1, p.param[1]) + std::string(1, p.param[5]);
                         });

TEST_F(SessionTest, AFailingNodeIsNamedAndTheSessionGoesOn) {
  const Output x = scalar(1);
  const Output bad = op("FailWith", {x}, {{"code", 11}}, "bad");
  auto s = session();
  const Error e = error_of([&] { s->run(bad); });
  EXPECT_EQ(e.code(), Code::kOutOfRange);
  EXPECT_EQ(e.node(), "bad");
  EXPECT_EQ(e.op(), "FailWith");
  EXPECT_EQ(s->run(x + x).item<float>(), 2.f);
}

TEST_F(SessionTest, AFailureOnAGpuEndsTheStepAndTheSessionGoesOn) {
  const Scope gpu = graph.device("/gpu:0");
  const Output x = scalar(1);
  const Output bad = op("FailWith", {x}, {}, "bad") + x;
  const Output good = x + x;
  auto s = session(gpus(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(error_of([&] { s->run(bad); }).node(), "bad");
    EXPECT_EQ(s->run(good).item<float>(), 2.f);
  }
}

TEST_F(SessionTest, ATimeoutEndsAWaitingStep) {
  Node* wait = graph.add("WaitForCancel", {});
  const Output x = scalar(4);
  auto s = session();
  RunOptions o;
  o.timeout_in_ms = 20;
  const Error e = error_of([&] { s->run({}, {}, std::span(&wait, 1), o); });
  EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(s->run(x).item<float>(), 4.f);
}

TEST_F(SessionTest, CloseEndsAWaitingStep) {
  Node* wait = graph.add("WaitForCancel", {});
  auto s = session();
  Error error(Code::kOk, "");
  std::thread runner([&] { error = error_of([&] { s->run(wait); }); });
  const auto started = [&] {
    const std::lock_guard lock(s->impl().active_mutex);
    return !s->impl().active.empty();
  };
  while (!started()) std::this_thread::yield();
  s->close();
  runner.join();
  EXPECT_EQ(error.code(), Code::kCancelled);
  EXPECT_EQ(error_of([&] { s->run(wait); }).message(), "Session has been closed.");
}

TEST_F(SessionTest, ManyThreadsRunOneSession) {
  const Scope gpu = graph.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{-1});
  Output y = x;
  for (int i = 0; i < 30; ++i) y = y + scalar(1);
  auto s = session(gpus(1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto v = static_cast<float>(t * 100 + i);
        EXPECT_EQ(s->run(y, {{x, Tensor::of({v, v}, {2})}}).values<float>()[1], v + 30);
      }
    });
  for (auto& t : threads) t.join();
}

TEST_F(SessionTest, TheGraphMayGrowBetweenRuns) {
  const Output x = scalar(1);
  auto s = session();
  EXPECT_EQ(s->run(x).item<float>(), 1.f);
  EXPECT_EQ(s->run(x + x).item<float>(), 2.f);
}

TEST_F(SessionTest, ACallableRunsEveryNodeOnce) {
  const Output x = placeholder(DType::kFloat, Shape{});
  Output y = x;
  for (int i = 0; i < 10; ++i) y = op("CountCalls", {y});
  auto s = session();
  const Callable c = s->make_callable(std::span(&x, 1), std::span(&y, 1));
  const int64_t before = testing::calls();
  for (int i = 0; i < 5; ++i) {
    const Tensor feed = Tensor::scalar(static_cast<float>(i));
    EXPECT_EQ(c(std::span(&feed, 1))[0].item<float>(), static_cast<float>(i));
  }
  EXPECT_EQ(testing::calls() - before, 50);
}

TEST_F(SessionTest, WrongFeedsAreRefused) {
  const Output x = placeholder(DType::kFloat, Shape{3}, "x");
  auto s = session();
  EXPECT_EQ(error_of([&] { s->run(x + x, {{x, Tensor::of({1.f}, {1})}}); }).message(),
            "Cannot feed value of shape (1,) for Tensor 'x:0', which has shape '(3,)'");
  EXPECT_EQ(error_of([&] { s->run(x + x, {{x, Tensor::of({1, 2, 3}, {3})}}); }).node(), "x");
  EXPECT_EQ(error_of([&] { s->run(x + x); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(error_of([&] { s->run(Feeds{}, std::span<const Output>{}); }).message(),
            "Must specify at least one target to fetch or execute.");
}

TEST_F(SessionTest, AVeryDeepGraphRuns) {
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output one = scalar(1);
  Output y = x;
  for (int i = 0; i < 20000; ++i) y = y + one;
  EXPECT_EQ(session()->run(y, {{x, Tensor::scalar(0.f)}}).item<float>(), 20000.f);
}

TEST_F(SessionTest, OutOfMemoryOnAGpuIsAnErrorAndTheSessionGoesOn) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  const Scope gpu = graph.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{-1}, "x");
  const Output y = reduce_sum(x + x, {0});
  auto s = session(o);
  const Error e = error_of([&] { s->run(y, {{x, Tensor(DType::kFloat, Shape{4 << 20})}}); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted);
  EXPECT_NE(e.message().find("OOM when allocating tensor with shape[4194304] and type float on "
                             "/job:localhost/replica:0/task:0/device:GPU:0"),
            std::string::npos)
      << e.message();
  EXPECT_EQ(e.op(), "Placeholder");  // whose copy there is the largest
  EXPECT_NE(e.source().find("session_test.cc"), std::string::npos) << e.source();
  EXPECT_EQ(s->run(y, {{x, Tensor::of({1.f, 2.f}, {2})}}).item<float>(), 6.f);
}

// Some 5 MB: of 8, room for one at a time.
const std::vector<float> kMany(1'300'000);

TEST_F(SessionTest, MemoryThatAnotherSessionKeepsForLaterIsNotInTheWay) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  const Scope gpu = graph.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{-1}, "x");
  const Output y = reduce_sum(tanh(x - x), {0});
  const Feeds feeds{{x, Tensor::vector<float>(kMany)}};
  auto first = session(o), second = session(o);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(first->run(y, feeds).item<float>(), 0.f);
    EXPECT_EQ(second->run(y, feeds).item<float>(), 0.f);
  }
}

TEST_F(SessionTest, AStepWaitsForMemoryThatOtherStepsGiveBack) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  const Scope gpu = graph.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{-1}, "x");
  const Output y = reduce_sum(tanh(x - x), {0});
  const Feeds feeds{{x, Tensor::vector<float>(kMany)}};
  auto shared = session(o), other = session(o);
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (Session* s : {shared.get(), shared.get(), other.get()})
    threads.emplace_back([&, s] {
      for (int i = 0; i < 10; ++i) done += s->run(y, feeds).item<float>() == 0.f;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(done, 30);
}

TEST_F(SessionTest, MemoryThatAnotherPlanKeepsForLaterIsNotInTheWay) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  const Scope gpu = graph.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{-1}, "x");
  auto s = session(o);
  for (int round = 0; round < 2; ++round)
    for (size_t n : {1'300'000, 1'200'000, 1'100'000})  // some 5 MB a plan
      EXPECT_EQ(s->run(reduce_sum(tanh(x - x), {0}),
                       {{x, Tensor::vector(std::span<const float>(kMany).first(n))}})
                    .item<float>(),
                0.f);
}

TEST_F(SessionTest, StepStatisticsNameNodesAndDevices) {
  const Output x = placeholder(DType::kFloat, Shape{2}, "x");
  Output y;
  {
    const Scope gpu = graph.device("/gpu:0");
    y = op("Neg", {x}, {}, "y");
  }
  auto s = session(gpus(1));
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  s->run({{x, Tensor::of({1.f, 2.f}, {2})}}, std::span(&y, 1), {}, o, &m);
  bool found = false;
  for (const NodeStats& n : m.nodes)
    if (n.node == "y" && n.op == "Neg") {
      found = true;
      EXPECT_EQ(n.device, "/job:localhost/replica:0/task:0/device:GPU:0");
      EXPECT_LE(n.start_ns, n.end_ns);
      EXPECT_EQ(n.bytes, 8);
    }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace emplace
