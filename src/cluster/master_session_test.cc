#include "cluster/master_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "cluster/cluster_testutil.h"
#include "cluster/master_run.h"
#include "emplace/emplace.h"
#include "graph/graph_def.h"

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

// x, doubled and increased n times, on tasks as given: of the test, of the doubling, of the adding.
class LoopTest : public MasterSessionTest, public ::testing::WithParamInterface<std::array<int, 4>> {};

TEST_P(LoopTest, EveryTaskRunsItsPartOfEachRound) {
  const auto [own, test, doubles, adds] = GetParam();
  const auto in_frame = [](bool constant) {
    return AttrList{{"frame_name", "w"}, {"is_constant", constant}};
  };
  const Output n = placeholder(DType::kInt32, Shape{}), x = placeholder(DType::kFloat, Shape{});
  const auto variable = [&](int task, const Output& start) {
    const Output enter = on(task, "Enter", {start}, in_frame(false));
    return on(task, "Merge", {enter, enter}).node;
  };
  Node* const i = variable(test, constant(Tensor::scalar(0)));
  Node* const y = variable(adds, x);
  const Output limit = op("Enter", {n}, in_frame(true));
  const Output one = op("Enter", {constant(Tensor::scalar(1))}, in_frame(true));
  const Output added = op("Enter", {on(doubles, "Neg", {x})}, in_frame(true));
  const Output condition = op("LoopCond", {on(test, "Less", {i->output(), limit})});
  Node* const si = graph.add("Switch", {i->output(), condition});
  Node* const sy = graph.add("Switch", {y->output(), condition});
  const Output doubled = on(doubles, "AddV2", {sy->output(1), sy->output(1)});
  graph.update_input(i, 1, op("NextIteration", {on(test, "AddV2", {si->output(1), one})}));
  graph.update_input(y, 1, op("NextIteration", {on(adds, "AddV2", {doubled, added})}));
  const Output out = op("Exit", {sy->output(0)});
  const Output after = on(doubles, "Square", {out});
  auto s = tasks.session(graph, own);
  for (const int rounds : {0, 1, 5, 3}) {
    float expected = 2;
    for (int k = 0; k < rounds; ++k) expected = 2 * expected - 2;
    const auto got = run(*s, {out, after}, {{n, Tensor::scalar(rounds)}, {x, Tensor::scalar(2.f)}});
    EXPECT_EQ(got[0].item<float>(), expected);
    EXPECT_EQ(got[1].item<float>(), expected * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(OverTasks, LoopTest,
                         ::testing::Values(std::array{0, 0, 1, 0}, std::array{0, 0, 1, 1}, std::array{0, 1, 0, 0},
                                           std::array{0, 1, 0, 1}, std::array{1, 0, 1, 0}, std::array{1, 1, 1, 1},
                                           std::array{0, 1, 1, 0}));

// f(handle, x) = read(handle) * neg(x), neg on the other task.
TEST_F(MasterSessionTest, BodiesOfFunctionsSpanTasks) {
  auto f = std::make_shared<Function>();
  f->name = "f";
  f->body = std::make_shared<Graph>();
  {
    const Scope inside = f->body->as_default();
    Graph& b = *f->body;
    f->inputs = {b.add("_Arg", {}, {{"T", DType::kResource}, {"index", 0}}),
                 b.add("_Arg", {}, {{"T", DType::kFloat}, {"index", 1}})};
    f->input_names = {"handle", "x"};
    const Output value = b.add("ReadVariableOp", {f->inputs[0]->output()}, {{"dtype", DType::kFloat}})->output();
    const Scope there = b.device("/job:worker/task:1");
    const Output negative = b.add("Neg", {f->inputs[1]->output()})->output();
    f->outputs = {b.add("Mul", {value, negative})->output()};
    f->output_names = {"y"};
  }
  graph.add_function(f);
  Node* v = variable(0, "v");
  Node* assign = graph.add("AssignVariableOp", {v->output(), constant(Tensor::scalar(5.f))}, {{"dtype", DType::kFloat}});
  const Output x = placeholder(DType::kFloat, Shape{}), p = placeholder(DType::kBool, Shape{});
  const AttrList types{{"Tin", std::vector<DType>{DType::kResource, DType::kFloat}},
                       {"Tout", std::vector<DType>{DType::kFloat}}};
  AttrList call = types, branch = types;
  call.emplace_back("f", FunctionName{"f", {}});
  branch.emplace_back("then_branch", FunctionName{"f", {}});
  branch.emplace_back("else_branch", FunctionName{"f", {}});
  const Output y = graph.add("PartitionedCall", {v->output(), x}, call)->output();
  const Output z = graph.add("If", {p, v->output(), y}, branch)->output();
  auto s = tasks.session(graph);
  run(*s, {}, {}, {assign});
  EXPECT_EQ(run(*s, {y}, {{x, Tensor::scalar(3.f)}})[0].item<float>(), -15.f);
  for (const bool b : {true, false})
    EXPECT_EQ(run(*s, {z}, {{x, Tensor::scalar(3.f)}, {p, Tensor::scalar(b)}})[0].item<float>(), 75.f);
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

// Whichever comes first: a step that a task begins while its session goes is ended, too.
TEST_F(MasterSessionTest, AStepBesideCloseEnds) {
  const Output q = on(1, "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  const Output waits = graph.add("QueueDequeueV2", {q}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output();
  const Output use = on(0, "Neg", {waits});
  for (int i = 0; i < 200; ++i) {
    auto s = tasks.session(graph);
    std::atomic<bool> begins = false;
    std::thread closer([&] {
      while (!begins) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(10 * i));
      s->close({Code::kCancelled, "closed"});
    });
    begins = true;
    const Error e = error_of([&] { run(*s, {use}); });
    EXPECT_EQ(e.code(), Code::kCancelled) << e.message();
    closer.join();
  }
}

// The message that ended the first may be lost.
TEST_F(MasterSessionTest, ATaskEndsStepsOlderThanTheMastersOldest) {
  cluster::Task task(DeviceName::of_task("worker", 0, 0), {}, [](const std::string& name) -> std::shared_ptr<cluster::Peer> { throw not_found(name); });
  const Output q = on(0, "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  const Output waits = graph.add("QueueDequeueV2", {q}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output();
  const Output here = constant(1.f);
  for (const auto& [number, node] : {std::pair{1, waits.node}, std::pair{2, here.node}}) {
    cluster::PartSpec part;
    part.session = 1;
    part.part = number;
    part.targets = {node->name()};
    to_proto(graph, {}, &part.graph);
    task.add_part(std::move(part));
  }
  std::thread first([&] { EXPECT_EQ(error_of([&] { task.run_part({1, 1, 1, 1, {}}); }).code(), Code::kCancelled); });
  while (task.waiting(1).empty()) std::this_thread::yield();
  task.run_part({1, 2, 2, 2, {}});
  first.join();
}

TEST_F(MasterSessionTest, SaysWhoWaitsForWhatFromWhom) {
  const Output q = on(1, "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  const Output waits = graph.add("QueueDequeueV2", {q}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output();
  const Output use = on(0, "Neg", {waits});
  auto s = tasks.session(graph);
  EXPECT_TRUE(s->waiting().empty());
  std::thread stepper([&] { error_of([&] { run(*s, {use}); }); });
  std::vector<WaitingCall> calls;
  for (int i = 0; i < 2000 && calls.size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    calls = s->waiting();
  }
  s->close({Code::kCancelled, "closed"});
  stepper.join();
  ASSERT_EQ(calls.size(), 2u);
  const bool first = calls[0].op == "_Recv";
  const WaitingCall &receive = calls[first ? 0 : 1], &dequeue = calls[first ? 1 : 0];
  EXPECT_EQ(receive.awaits, waits.name());
  EXPECT_EQ(receive.from, "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(receive.device, "/job:worker/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(dequeue.node, waits.node->name());
  EXPECT_THAT(dequeue.device, ::testing::HasSubstr("/job:worker/replica:0/task:1/device:"));
  EXPECT_GE(dequeue.seconds, 0);
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
