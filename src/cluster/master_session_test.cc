#include "cluster/master_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cluster/cluster_testutil.h"
#include "cluster/master_run.h"
#include "emplace/emplace.h"

namespace emplace::testing {
namespace {



class MasterSessionTest : public ::testing::Test {
 protected:
  Graph graph;
  Scope in_graph = graph.as_default();
  Tasks tasks{2, 1};

  Output op(const char* type, std::initializer_list<Output> in, AttrList attrs = {}) {
    return graph.add(type, in, std::move(attrs))->output();
  }
  Output on(int task, const char* type, std::initializer_list<Output> in, AttrList attrs = {}) {
    const Scope there = graph.device("/job:worker/task:" + std::to_string(task));
    return op(type, in, std::move(attrs));
  }
  Node* variable(int task, const char* name) {
    const Scope there = graph.device("/job:worker/task:" + std::to_string(task));
    NodeOptions options;
    options.name = name;
    return graph.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, options);
  }
  Output read(Node* v) { return op("ReadVariableOp", {v->output()}, {{"dtype", DType::kFloat}}); }
};

TEST_F(MasterSessionTest, ValuesGoFromTaskToTask) {
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output a = on(0, "Neg", {x}), b = on(1, "Square", {a}), c = on(0, "Add", {a, b});
  auto s = tasks.session(graph);
  for (float v : {3.f, 4.f}) {
    const auto got = run(*s, {c, b}, {{x, Tensor::scalar(v)}});
    EXPECT_EQ(got[0].item<float>(), v * v - v);
    EXPECT_EQ(got[1].item<float>(), v * v);
  }
}

TEST_F(MasterSessionTest, GpusOfDifferentTasksAreDifferentDevices) {
  const Output x = placeholder(DType::kFloat, Shape{3});
  const Scope first = graph.device("/job:worker/task:0/gpu:0");
  const Output a = op("Neg", {x});
  const Scope second = graph.device("/job:worker/task:1/gpu:0");
  const Output b = op("Square", {a});
  auto s = tasks.session(graph, 1);
  EXPECT_EQ(s->devices().size(), 4u);
  EXPECT_EQ(run(*s, {b}, {{x, Tensor::of({1.f, 2.f, 3.f}, Shape{3})}})[0].str(), "[1. 4. 9.]");
}

// Calls of one GPU are made in a fixed order, and joined: what a receive waits for must come before.
TEST_F(MasterSessionTest, ValuesGoBackAndForthBetweenGpus) {
  const Output x = placeholder(DType::kFloat, Shape{3});
  std::vector<Output> ends;
  for (int chain = 0; chain < 3; ++chain) {
    Output y = x;
    for (int i = 0; i < 6; ++i) {
      const Scope there = graph.device("/job:worker/task:" + std::to_string((i + chain) % 2) + "/gpu:0");
      y = op("Neg", {op("Relu", {op("Neg", {y})})});
    }
    ends.push_back(y);
  }
  auto s = tasks.session(graph);
  for (int i = 0; i < 5; ++i)
    for (const Tensor& t : run(*s, ends, {{x, Tensor::of({1.f, -2.f, 3.f}, Shape{3})}}))
      EXPECT_EQ(t.str(), "[-0. -2. -0.]");
}

TEST_F(MasterSessionTest, ControlEdgesCrossTasks) {
  Node* v = variable(1, "v");
  Node* assign = graph.add("AssignVariableOp", {v->output(), constant(Tensor::scalar(5.f))},
                           {{"dtype", DType::kFloat}});
  const Scope after = graph.control_dependencies(std::vector<Node*>{assign});
  const Output done = on(0, "Const", {}, {{"value", Tensor::scalar(1.f)}, {"dtype", DType::kFloat}});
  const Output both = on(0, "Add", {done, read(v)});
  auto s = tasks.session(graph);
  EXPECT_EQ(run(*s, {both})[0].item<float>(), 6.f);
}

TEST_F(MasterSessionTest, StateOutlivesSessionsInItsTask) {
  Node* v = variable(1, "v");
  Node* assign = graph.add("AssignVariableOp", {v->output(), constant(Tensor::scalar(5.f))},
                           {{"dtype", DType::kFloat}});
  const Output value = read(v);
  run(*tasks.session(graph), {}, {}, {assign});
  EXPECT_EQ(run(*tasks.session(graph, 1), {value})[0].item<float>(), 5.f);
  tasks.task(1).reset({"localhost"});  // the default container is the job's
  EXPECT_EQ(run(*tasks.session(graph), {value})[0].item<float>(), 5.f);
  tasks.task(1).reset({});
  const Error e = error_of([&] { run(*tasks.session(graph), {value}); });
  EXPECT_EQ(e.code(), Code::kFailedPrecondition);
  EXPECT_THAT(e.message(), ::testing::HasSubstr("container=worker"));
}

TEST_F(MasterSessionTest, IsolatedSessionsHaveVariablesOfTheirOwn) {
  Node* v = variable(1, "v");
  Node* assign = graph.add("AssignVariableOp", {v->output(), constant(Tensor::scalar(5.f))},
                           {{"dtype", DType::kFloat}});
  const Output value = read(v);
  SessionOptions alone;
  alone.isolate_session_state = true;
  run(*tasks.session(graph), {}, {}, {assign});
  auto s = tasks.session(graph, 0, alone);
  EXPECT_EQ(error_of([&] { run(*s, {value}); }).code(), Code::kFailedPrecondition);
}

TEST_F(MasterSessionTest, AQueueWithoutSharedNameIsNewInEachSession) {
  for (const bool shared : {false, true}) {
    AttrList attrs{{"component_types", std::vector<DType>{DType::kFloat}}, {"capacity", 4}};
    if (shared) attrs.emplace_back("shared_name", "q");
    const Output q = on(1, "FIFOQueueV2", {}, attrs);
    Node* put = graph.add("QueueEnqueueV2", {q, constant(Tensor::scalar(5.f))});
    const Output size = op("QueueSizeV2", {q});
    auto first = tasks.session(graph);
    run(*first, {}, {}, {put});
    EXPECT_EQ(run(*first, {size})[0].item<int32_t>(), 1);
    EXPECT_EQ(run(*tasks.session(graph), {size})[0].item<int32_t>(), shared ? 1 : 0);
  }
}

TEST_F(MasterSessionTest, EachTaskOfABranchIsToldThePredicate) {
  const Output p = placeholder(DType::kBool, Shape{}), x = placeholder(DType::kFloat, Shape{});
  const Output pred = on(0, "Identity", {p});
  Node* sw = graph.add("Switch", {on(0, "Identity", {x}), pred});
  const Output no = on(1, "Neg", {sw->output(0)});
  const Output yes = on(0, "Square", {on(1, "Square", {sw->output(1)})});
  const Output merged = on(1, "Merge", {no, yes});
  const Output after = on(0, "Add", {merged, x});
  for (int own : {0, 1}) {
    auto s = tasks.session(graph, own);
    for (int i = 0; i < 6; ++i) {
      const bool b = i % 2 == 0;
      const auto got = run(*s, {after}, {{p, Tensor::scalar(b)}, {x, Tensor::scalar(3.f)}});
      EXPECT_EQ(got[0].item<float>(), b ? 84.f : 0.f);
    }
  }
}

TEST_F(MasterSessionTest, ALoopOverTwoTasksIsRefusedByName) {
  const AttrList frame{{"frame_name", "w"}};
  const Output start = on(0, "Enter", {constant(Tensor::scalar(0))}, frame);
  Node* merge = graph.add("Merge", {start, start});
  const Output limit = op("Enter", {constant(Tensor::scalar(3))}, {{"frame_name", "w"}, {"is_constant", true}});
  const Output cond = op("LoopCond", {op("Less", {merge->output(), limit})});
  Node* sw = graph.add("Switch", {merge->output(), cond});
  const Output one = op("Enter", {constant(Tensor::scalar(1))}, {{"frame_name", "w"}, {"is_constant", true}});
  const Output next = on(1, "Add", {sw->output(1), one});
  graph.update_input(merge, 1, op("NextIteration", {next}));
  const Output out = op("Exit", {sw->output(0)});
  auto s = tasks.session(graph);
  const Error e = error_of([&] { run(*s, {out}); });
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_THAT(e.message(), ::testing::HasSubstr("A loop over several tasks"));
  EXPECT_THAT(e.node(), ::testing::HasSubstr("Add"));
}

TEST_F(MasterSessionTest, AFailedPartEndsTheOthers) {
  const Output q = on(0, "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  const Output waits = graph.add("QueueDequeueV2", {q}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output();
  const Output fails = on(1, "CheckNumerics", {on(1, "Log", {placeholder(DType::kFloat, Shape{})})},
                          {{"message", "of the test"}});
  const Output both = on(0, "Add", {fails, waits});
  auto s = tasks.session(graph);
  const Output x = fails.node->inputs()[0].node->inputs()[0];
  const Error e = error_of([&] { run(*s, {both}, {{x, Tensor::scalar(-1.f)}}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.node(), fails.node->name());
  EXPECT_EQ(run(*s, {fails}, {{x, Tensor::scalar(1.f)}})[0].item<float>(), 0.f);
}

TEST_F(MasterSessionTest, TimeoutsAndCloseEndAStepEverywhere) {
  const Output q = on(1, "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  const Output waits = graph.add("QueueDequeueV2", {q}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output();
  const Output use = on(0, "Neg", {waits});
  auto s = tasks.session(graph);
  EXPECT_EQ(error_of([&] { run(*s, {use}, {}, {}, 50); }).code(), Code::kDeadlineExceeded);
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    s->close({Code::kCancelled, "closed"});
  });
  const Error e = error_of([&] { run(*s, {use}); });
  closer.join();
  EXPECT_EQ(e.code(), Code::kCancelled);
  EXPECT_EQ(error_of([&] { run(*s, {use}); }).code(), Code::kCancelled);
}

TEST_F(MasterSessionTest, AGraphGrows) {
  const Output x = on(1, "Const", {}, {{"value", Tensor::scalar(2.f)}, {"dtype", DType::kFloat}});
  auto s = tasks.session(graph);
  EXPECT_EQ(error_of([&] { s->extend({}, 7); }).code(), Code::kAborted);
  proto::GraphDef more;
  proto::NodeDef& n = *more.add_node();
  n.set_name("grown");
  n.set_op("Neg");
  n.add_input(x.node->name());
  (*n.mutable_attr())["T"].set_type(proto::DT_FLOAT);
  EXPECT_EQ(s->extend(more, 1), 2);
  const auto step = s->begin();
  EXPECT_EQ(s->run(step, {{}, {"grown:0"}, {}}, {}, 0)[0].item<float>(), -2.f);
}

}  // namespace
}  // namespace emplace::testing
