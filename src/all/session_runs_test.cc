// What one run is given and gives back.
#include "all/session_fixture.h"

namespace emplace {
namespace {

class SessionRuns : public testing::SessionFixture {
 protected:
  Output x = placeholder(DType::kFloat, Shape{}, "x");
  Output y = placeholder(DType::kFloat, Shape{}, "y");
  Output sum = op("AddV2", {x, y}, {}, "sum");
  Output difference = op("Sub", {x, y}, {}, "difference");
  Feeds feeds = {{x, Tensor::scalar(5.f)}, {y, Tensor::scalar(3.f)}};

  std::vector<float> run(std::vector<Output> fetches, const Feeds& with,
                         const SessionOptions& o = {}, const RunOptions& options = {}) {
    std::vector<float> values;
    for (const Tensor& t : session(o)->run(with, fetches, {}, options))
      values.push_back(t.item<float>());
    return values;
  }
  using Values = std::vector<float>;
};

TEST_F(SessionRuns, FetchesComeInTheOrderAskedFor) {
  EXPECT_EQ(run({sum, difference}, feeds), (Values{8, 2}));
  EXPECT_EQ(run({difference, sum}, feeds), (Values{2, 8}));
}

TEST_F(SessionRuns, FeedsMayComeInAnyOrder) {
  EXPECT_EQ(run({difference}, {feeds[1], feeds[0]}), Values{2});
}

TEST_F(SessionRuns, OneTensorMayBeFetchedSeveralTimes) {
  EXPECT_EQ(run({sum, sum, difference, sum}, feeds), (Values{8, 8, 2, 8}));
}

TEST_F(SessionRuns, AFedTensorMayBeFetched) {
  EXPECT_EQ(run({x, sum}, feeds), (Values{5, 8}));
}

TEST_F(SessionRuns, WhatAFeedCutsOffIsNotRun) {
  const Output bad = op("FailWith", {x}, {}, "bad");
  const Output after = op("Neg", {bad});
  EXPECT_EQ(run({after}, {{bad, Tensor::scalar(2.f)}}), Values{-2});
  EXPECT_EQ(error_of([&] { run({after}, feeds); }).node(), "bad");
}

TEST_F(SessionRuns, OnlyWhatATargetNeedsIsRun) {
  const Output counted = op("CountCalls", {x}), other = op("CountCalls", {y});
  const int64_t before = testing::calls();
  session()->run(counted.node, {feeds[0]});
  EXPECT_EQ(testing::calls() - before, 1);
  Node* const both[] = {counted.node, other.node};
  session()->run(feeds, {}, both);
  EXPECT_EQ(testing::calls() - before, 3);
}

TEST_F(SessionRuns, AFeedInTheMiddleServesSeveralFetches) {
  Output c = x;
  std::vector<Output> chain;
  for (int i = 0; i < 6; ++i) chain.push_back(c = c + c);
  const Feeds middle = {{chain[2], Tensor::scalar(1.f)}};
  EXPECT_EQ(run({chain[5], chain[2], chain[3]}, middle), (Values{8, 1, 2}));
}

TEST_F(SessionRuns, AFedReferenceIsAPlainValueToItsReaders) {
  const VariableNodes v = variable(Tensor::scalar(1.f), "v");
  EXPECT_EQ(run({identity(v.ref)}, {{v.ref, Tensor::scalar(7.f)}}), Values{7});
}

TEST_F(SessionRuns, AFedVariableCannotBeAssigned) {
  const VariableNodes v = variable(Tensor::scalar(1.f), "v");
  const Error e =
      error_of([&] { session()->run(v.initializer, {{v.ref, Tensor::scalar(7.f)}}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.node(), "v/Assign");
  EXPECT_NE(e.message().find("float_ref"), std::string::npos) << e.message();
}

TEST_F(SessionRuns, UnknownEndpointsAreRefused) {
  Graph other{testing::session_ops()};
  Output foreign;
  {
    const Scope in_other = other.as_default();
    foreign = constant(1.f, "foreign");
  }
  auto s = session();
  const auto refused = [&](auto f) {
    const Error e = error_of(f);
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("'foreign'"), std::string::npos) << e.message();
  };
  refused([&] { s->run(sum, {{foreign, Tensor::scalar(1.f)}}); });
  refused([&] { s->run(foreign, feeds); });
  refused([&] { s->run(foreign.node, feeds); });
}

TEST_F(SessionRuns, AFeedOfAnOutputThatIsNotThereIsRefused) {
  auto s = session();
  for (const int index : {-5, 1, 1'000'000'000}) {
    const Error e = error_of([&] { s->run(sum, {{Output{x.node, index}, Tensor::scalar(1.f)}}); });
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("does not exist: node 'x' has 1 outputs"), std::string::npos)
        << e.message();
  }
}

TEST_F(SessionRuns, AnErrorNamesTheLineOfItsNode) {
  const Output nothing = op("SetsNothing", {x}, {}, "nothing");
  const std::string here = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
  auto s = session();
  EXPECT_EQ(error_of([&] { s->run(nothing, feeds); }).source(), here);
}

TEST_F(SessionRuns, AKernelThatSetsNoOutputIsAnError) {
  const Output nothing = op("SetsNothing", {x}, {}, "nothing");
  auto s = session();
  const Error e = error_of([&] { s->run(nothing, feeds); });
  EXPECT_EQ(e.code(), Code::kInternal);
  EXPECT_EQ(e.node(), "nothing");
  EXPECT_NE(e.message().find("Missing 0-th output from"), std::string::npos) << e.message();
  EXPECT_EQ(s->run(sum, feeds).item<float>(), 8.f);
}

TEST_F(SessionRuns, ADeviceThatIsNotThereIsNamed) {
  SessionOptions o = gpus(0);
  o.device_count = {{"CPU", 2}};
  const Scope on = graph.device("/cpu:2");
  const Error e = error_of([&] { run({op("Neg", {x}, {}, "far")}, feeds, o); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_NE(e.message().find("CPU:2"), std::string::npos) << e.message();
  o.device_count = {{"CPU", 3}};
  EXPECT_EQ(run({graph.find("far")->output()}, feeds, o), Values{-5});
}

TEST_F(SessionRuns, WhatIsNotNeededNeedNoPlaceWhenOnlyThePrunedGraphIsPlaced) {
  {
    const Scope on = graph.device("/gpu:7");
    op("Neg", {x}, {}, "nowhere");
  }
  SessionOptions o = gpus(0);
  EXPECT_EQ(error_of([&] { run({sum}, feeds, o); }).node(), "nowhere");
  o.place_pruned_graph = true;
  EXPECT_EQ(run({sum}, feeds, o), Values{8});
}

TEST_F(SessionRuns, WhatAFeedStandsForNeedsNoPlaceThen) {
  Output far;
  {
    const Scope on = graph.device("/gpu:7");
    far = op("Neg", {x}, {}, "far");
  }
  const Output y = op("Square", {far});
  SessionOptions o = gpus(0);
  o.place_pruned_graph = true;
  EXPECT_EQ(run({op("Neg", {y})}, {{y, Tensor::scalar(3.f)}}, o), Values{-3});
}

TEST_F(SessionRuns, NodesOfFunctionsAreLoggedOncePerPlace) {
  graph.add_function(function("f", [](Output a) { return op("Neg", {a}, {}, "inner"); }));
  const auto call = [&](const char* name) {
    return graph.add("PartitionedCall", {x},
                     {{"Tin", std::vector<DType>{DType::kFloat}},
                      {"Tout", std::vector<DType>{DType::kFloat}},
                      {"f", FunctionName{"f", {}}}},
                     {name, {}, {}, false, false, {}})->output();
  };
  SessionOptions o = gpus(0);
  o.log_device_placement = true;
  std::string log;
  o.log = [&](const std::string& text) { log += text; };
  EXPECT_EQ(run({call("one"), call("two")}, feeds, o), (Values{-5, -5}));
  const std::string line = "inner: /job:localhost/replica:0/task:0/device:CPU:0\n";
  const size_t at = log.find(line);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find(line, at + 1), std::string::npos) << log;
}

TEST_F(SessionRuns, AGraphThatGrowsBetweenRunsRemembersEachNodeOnce) {
  for (int i = 0; i < 50; ++i) op("Neg", {x});
  auto s = session(gpus(0));
  s->run(sum, feeds);
  for (int i = 0; i < 40; ++i) s->run(op("Neg", {x}, {}, "later" + std::to_string(i)), feeds);
  EXPECT_EQ(s->impl().placements.size(), 1u);
  const PlacementReport report = s->placement();
  ASSERT_EQ(report.rows.size(), graph.nodes().size());
  EXPECT_EQ(report.rows.back().node, "later39");
  EXPECT_EQ(report.rows.back().reason, "default device: only CPU has a kernel for float32");
}

TEST_F(SessionRuns, ConstantsBehindManyControlEdgesArePlannedInOneWalk) {
  std::vector<Node*> before{op("Neg", {x}).node};
  for (int layer = 0; layer < 60; ++layer) {  // 2^60 ways through them
    const Scope after = graph.control_dependencies(before);
    before = {constant(1.f).node, constant(2.f).node};
  }
  EXPECT_EQ(run({before[0]->output() + x}, feeds, gpus(0)), Values{6});
}

TEST_F(SessionRuns, ASizeThatFitsNoInt64IsAnErrorThatNamesTheNode) {
  const Output huge = op("Fill", {constant({2147483647, 2147483647}, {2}), x}, {}, "huge");
  for (const int n : {0, 1}) {
    const Error e = error_of([&] { run({reduce_sum(-huge, {0, 1})}, feeds, gpus(n)); });
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_EQ(e.node(), "huge");
  }
}

TEST_F(SessionRuns, AnOutputThatIsNoneHasNoPlacement) {
  auto s = session(gpus(0));
  const Output none;
  EXPECT_EQ(error_of([&] { s->placement(std::span(&none, 1)); }).code(), Code::kInvalidArgument);
}

TEST_F(SessionRuns, APoolOfANegativeNumberBelowOneIsRefused) {
  RunOptions o;
  o.inter_op_thread_pool = -2;
  auto s = session(gpus(0));
  EXPECT_EQ(error_of([&] { s->run(feeds, std::span(&sum, 1), {}, o); }).message(),
            "Invalid inter_op_thread_pool: -2");
}

TEST_F(SessionRuns, AConstantThatFindsNoRoomIsNamed) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 1;
  const Output c = constant(Tensor::scalar(1.f), "c");
  const Error e = error_of([&] { run({op("Neg", {c})}, {}, o); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted);
  EXPECT_EQ(e.node(), "c");
}

TEST_F(SessionRuns, StatisticsAreOfTheLastStepOnlyAndOfRealSizes) {
  auto s = session(gpus(0));
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  const Output where = op("Where", {constant(Tensor::of({true, false, true}, {3}))}, {}, "where");
  for (int i = 0; i < 2; ++i) {
    s->run({}, std::span(&where, 1), {}, o, &m);
    ASSERT_EQ(m.nodes.size(), 1u);
    EXPECT_EQ(m.nodes[0].bytes, 16);
  }
  const Output c = constant(1.f);
  s->run({}, std::span(&c, 1), {}, o, &m);  // nothing to do
  EXPECT_TRUE(m.nodes.empty());
  EXPECT_GT(m.start_us, 0);
  s->run({}, std::span(&where, 1), {}, {}, &m);  // not traced
  EXPECT_TRUE(m.nodes.empty());
  EXPECT_EQ(m.start_us, 0);
}

// ---- Callables.

TEST_F(SessionRuns, ACallableTakesSeveralFeedsAndGivesFetchesInOrder) {
  auto s = session();
  const Output from[] = {y, x}, to[] = {difference, sum, difference};
  const Callable c = s->make_callable(from, to);
  const Tensor values[] = {Tensor::scalar(3.f), Tensor::scalar(5.f)};
  const auto got = c(values);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].item<float>(), 2.f);
  EXPECT_EQ(got[1].item<float>(), 8.f);
  EXPECT_EQ(got[2].item<float>(), 2.f);
  EXPECT_EQ(error_of([&] { c(std::span(values, 1)); }).code(), Code::kInvalidArgument);
}

TEST_F(SessionRuns, ACallableKeepsNoMemoryOfAClosedSession) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  const Scope gpu = graph.device("/gpu:0");
  const Output in = placeholder(DType::kFloat, Shape{-1});
  const Output out = reduce_sum(tanh(in - in), {0});
  const Tensor t = Tensor::vector<float>(std::vector<float>(1'300'000));  // some 5 MB a step
  auto a = session(o);
  const Callable call = a->make_callable(std::span(&in, 1), std::span(&out, 1));
  call(std::span(&t, 1));
  a->close();
  EXPECT_EQ(error_of([&] { call(std::span(&t, 1)); }).code(), Code::kCancelled);
  o.virtual_gpu_memory = 6 << 20;
  auto b = session(o);
  EXPECT_EQ(b->list_devices().back().memory_limit, 6 << 20);  // not the closed session's
  EXPECT_EQ(b->run(out, {{in, t}}).item<float>(), 0.f);
}

TEST_F(SessionRuns, ACallableRunsWithTheOptionsItWasMadeWith) {
  auto s = session(gpus(0));
  const Output queue = op("FIFOQueueV2", {}, {{"component_types", std::vector{DType::kFloat}}});
  const Output waits = op("QueueDequeueV2", {queue}, {{"component_types", std::vector{DType::kFloat}}});
  RunOptions o;
  o.timeout_in_ms = 20;
  const Callable c = s->make_callable({}, std::span(&waits, 1), {}, o);
  std::vector<Tensor> fetched;
  EXPECT_EQ(error_of([&] { c.run({}, fetched); }).code(), Code::kDeadlineExceeded);
}

TEST_F(SessionRuns, ACallableFillsStepStatistics) {
  auto s = session();
  const Output from[] = {x, y};
  const Callable c = s->make_callable(from, std::span(&sum, 1));
  const Tensor values[] = {Tensor::scalar(3.f), Tensor::scalar(5.f)};
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  std::vector<Tensor> fetched;
  c.run(values, fetched, o, &m);
  ASSERT_EQ(m.nodes.size(), 1u);
  EXPECT_EQ(m.nodes[0].node, "sum");
  EXPECT_EQ(m.nodes[0].op, "AddV2");
}

TEST_F(SessionRuns, ACallableThatWasNeverMadeIsRefused) {
  EXPECT_EQ(error_of([] { Callable()({}); }).code(), Code::kFailedPrecondition);
}

// ---- Where feeds and fetches live.

TEST_F(SessionRuns, FeedsAndFetchesOfGpuNodesLiveOnTheHost) {
  const Scope on = graph.device("/gpu:0");
  const Output z = op("Neg", {x}, {}, "z");
  const Tensor got = session(gpus(1))->run(z, feeds);
  EXPECT_EQ(got.device(), nullptr);  // the host's
  EXPECT_EQ(got.item<float>(), -5.f);
}

TEST_F(SessionRuns, ListsItsDevices) {
  const auto devices = session(gpus(2))->list_devices();
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[2].name, "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(devices[2].memory_limit, 16 << 20);
  EXPECT_NE(devices[1].incarnation, devices[2].incarnation);
}

TEST_F(SessionRuns, AnAttributeOfAnOpIsCheckedWhenItIsChanged) {
  const Output c = constant(Tensor::of({1.f, 2.f}, {2}), "c");
  const auto refused = [&](const char* name, AttrValue value) {
    const Error e = error_of([&] { graph.set_attr(c.node, name, std::move(value)); });
    return e.code() == Code::kInvalidArgument && e.node() == "c" && !e.source().empty();
  };
  EXPECT_TRUE(refused("value", Tensor::of({1, 2}, {2})));  // int32: the bits would be taken as they are
  EXPECT_TRUE(refused("dtype", int64_t{3}));
  EXPECT_TRUE(refused("dtype", DType::kInt32));
  graph.set_attr(c.node, "value", Tensor::of({5.f}, {1}));
  graph.set_attr(c.node, "_note", std::string("anything"));
  EXPECT_EQ(c.shape(), Shape{1});
  EXPECT_EQ(session()->run(c).item<float>(), 5.f);
}

TEST_F(SessionRuns, AGraphHoldsNoTensorOfADevice) {
  Eager eager(gpus(1));
  const Tensor terms[] = {Tensor::scalar(1.f), Tensor::scalar(2.f)};
  const Tensor t = eager.execute("AddV2", terms)[0];
  ASSERT_NE(t.device(), nullptr);
  EXPECT_EQ(error_of([&] { constant(t); }).code(), Code::kFailedPrecondition);
}

TEST_F(SessionRuns, WhatFailsInAScopeBearsTheNameItWouldHaveHad) {
  const Output taken = constant(1.f, "a");
  const Scope scope = graph.name_scope("s");
  EXPECT_EQ(error_of([&] { op("Neg", {taken}, {{"q", int64_t{1}}}); }).node(), "s/Neg");
  const Scope root = graph.name_scope("");
  EXPECT_EQ(error_of([&] { op("Neg", {taken}, {{"q", int64_t{1}}}, "a"); }).node(), "a_1");
}

}  // namespace
}  // namespace emplace
