// Eager work on other tasks, over real connections.
#include <gtest/gtest.h>

#include <thread>

#include "cluster/cluster_testutil.h"
#include "emplace/cluster.h"
#include "emplace/eager.h"
#include "emplace/emplace.h"

namespace emplace::testing {
namespace {

class EagerTasksTest : public ::testing::Test {
 protected:
  EagerTasksTest() {
    ServerOptions o;
    o.job = "worker";
    const auto ports = free_ports(2);
    for (int i = 0; i < 2; ++i)
      o.cluster["worker"][i] = "localhost:" + std::to_string(ports[static_cast<size_t>(i)]);
    for (o.task = 0; o.task < 2; ++o.task) servers.push_back(std::make_unique<Server>(o));
    connect_tasks(eager, o.cluster);
  }
  static std::string task(int i) { return "/job:worker/task:" + std::to_string(i); }
  Tensor on(int i, const char* op, std::vector<Tensor> inputs, AttrList attrs = {}) {
    return eager.execute(op, inputs, std::move(attrs), task(i)).at(0);
  }
  float value(const Tensor& t) { return eager.to_host(t).item<float>(); }

  std::vector<std::unique_ptr<Server>> servers;
  Eager eager;
};

TEST_F(EagerTasksTest, ValuesStayWhereTheyAreMade) {
  const Tensor x = on(1, "Neg", {Tensor::scalar(3.f)});
  EXPECT_EQ(eager.device_of(x), "/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(value(x), -3.f);
  EXPECT_EQ(eager.device_of(on(0, "Neg", {x})), "/job:worker/replica:0/task:0/device:CPU:0");
  const Tensor here = eager.execute("Neg", {{x}})[0];
  EXPECT_EQ(here.item<float>(), 3.f);
  EXPECT_EQ(eager.list_devices().size(), 3u);
  EXPECT_EQ(value(eager.copy_to(here, task(0))), 3.f);
}

TEST_F(EagerTasksTest, OperationsFollowTheirVariable) {
  const AttrList attrs{
      {"dtype", DType::kFloat}, {"shape", Shape{}}, {"shared_name", std::string("v")}};
  const Tensor v = on(1, "VarHandleOp", {}, attrs);
  EXPECT_EQ(v.data<ResourceHandle>()->device, "/job:worker/replica:0/task:1/device:CPU:0");
  eager.execute("AssignVariableOp", {{v, Tensor::scalar(2.f)}});
  eager.execute("AssignAddVariableOp", {{v, on(0, "Neg", {Tensor::scalar(5.f)})}});
  EXPECT_EQ(value(eager.execute("ReadVariableOp", {{v}}, {{"dtype", DType::kFloat}})[0]), -3.f);
  // Another task has nothing of that name.
  const Tensor other = on(0, "VarHandleOp", {}, attrs);
  EXPECT_EQ(error_of([&] {
              eager.execute("ReadVariableOp", {{other}}, {{"dtype", DType::kFloat}});
            }).code(),
            Code::kFailedPrecondition);
}

TEST_F(EagerTasksTest, ErrorsAreTheOperations) {
  const Error e = error_of([&] {
    on(1, "Reshape", {Tensor::of<float>({1, 2}, Shape{2}), Tensor::of<int32_t>({3}, Shape{1})});
  });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            "Input to reshape is a tensor with 2 values, but the requested shape has 3");
  EXPECT_EQ(e.op(), "Reshape");
  const Error missing = error_of([&] { on(7, "Neg", {Tensor::scalar(1.f)}); });
  EXPECT_EQ(missing.message(), "/job:worker/replica:0/task:7/device:CPU:0 unknown device.");
}

TEST_F(EagerTasksTest, FunctionsRunInOneTaskOrInSeveral) {
  const auto graph = std::make_shared<Graph>();
  const Scope scope = graph->as_default();
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output y = x * constant(2.f);
  Output z;
  {
    const Scope there = graph->device(task(1));
    z = y + constant(1.f);
  }
  for (const std::string& device : {std::string(), task(0), task(1)}) {
    const auto f = eager.prepare(graph, {x}, {y, z}, {}, device);
    for (const float v : {1.f, 4.f}) {
      std::vector<Tensor> out;
      f->run({{Tensor::scalar(v)}}, out);
      EXPECT_EQ(value(out[0]), 2 * v);
      EXPECT_EQ(value(out[1]), 2 * v + 1);
      EXPECT_EQ(eager.device_of(out[1]), "/job:worker/replica:0/task:1/device:CPU:0");
    }
  }
}

TEST_F(EagerTasksTest, ATaskThatGoesIsNamed) {
  const Tensor x = on(1, "Neg", {Tensor::scalar(3.f)});
  servers[1]->stop();
  for (const auto& f : std::vector<std::function<void()>>{
           [&] { value(x); }, [&] { on(1, "Neg", {Tensor::scalar(1.f)}); }}) {
    const Error e = error_of(f);
    EXPECT_TRUE(e.code() == Code::kUnavailable || e.code() == Code::kAborted) << e.message();
    EXPECT_NE(e.message().find("/job:worker/replica:0/task:1"), std::string::npos) << e.message();
  }
  EXPECT_EQ(value(on(0, "Neg", {Tensor::scalar(3.f)})), -3.f);
}

TEST_F(EagerTasksTest, TasksThatLiveKeepTheirValuesWhenOthersAreConnectedAgain) {
  const Tensor x = on(0, "Neg", {Tensor::scalar(3.f)});
  ServerOptions o;
  for (int i = 0; i < 2; ++i)
    o.cluster["worker"][i] = "localhost:" + std::to_string(servers[static_cast<size_t>(i)]->port());
  servers[1]->stop();
  servers[1].reset();
  o.job = "worker";
  o.task = 1;
  servers[1] = std::make_unique<Server>(o);
  for (bool again = true; again;) {  // until this side has heard that the other had gone
    connect_tasks(eager, o.cluster);
    try {
      EXPECT_EQ(value(on(1, "Neg", {x})), 3.f);
      again = false;
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(value(on(0, "Neg", {x})), 3.f);
}

TEST_F(EagerTasksTest, ProgramsSeeNothingOfEachOther) {
  Eager second;
  ClusterSpec cluster;
  cluster["worker"][1] = "localhost:" + std::to_string(servers[1]->port());
  connect_tasks(second, cluster);
  const AttrList attrs{
      {"dtype", DType::kFloat}, {"shape", Shape{}}, {"shared_name", std::string("v")}};
  eager.execute("AssignVariableOp", {{on(1, "VarHandleOp", {}, attrs), Tensor::scalar(2.f)}});
  const Tensor theirs = second.execute("VarHandleOp", {}, attrs, task(1))[0];
  EXPECT_THROW(second.execute("ReadVariableOp", {{theirs}}, {{"dtype", DType::kFloat}}), Error);
}

TEST_F(EagerTasksTest, WhatWaitsEndsWithItsServer) {
  const std::vector<DType> floats{DType::kFloat};
  const auto queue = [&](const char* name) {
    return on(1, "FIFOQueueV2", {}, {{"component_types", floats}, {"shared_name", name}});
  };
  const Tensor begun = queue("begun"), never = queue("never");
  const auto graph = std::make_shared<Graph>();
  const Scope scope = graph->as_default();
  const Output first = graph->add("Placeholder", {}, {{"dtype", DType::kResource}})->output();
  const Output second = graph->add("Placeholder", {}, {{"dtype", DType::kResource}})->output();
  NodeOptions after;
  after.control_inputs = {graph->add("QueueEnqueueV2", {first, constant(1.f)}, {{"Tcomponents", floats}})};
  const Output taken =
      graph->add("QueueDequeueV2", {second}, {{"component_types", floats}}, after)->output();
  const auto f = eager.prepare(graph, {first, second}, {taken}, {}, task(1));
  std::thread waiting([&] {
    std::vector<Tensor> out;
    EXPECT_EQ(error_of([&] { f->run({{begun, never}}, out); }).code(), Code::kUnavailable);
  });
  // Once that has begun, another waits by itself.
  eager.execute("QueueDequeueV2", {{begun}}, {{"component_types", floats}});
  std::thread alone([&] {
    const Error e = error_of(
        [&] { eager.execute("QueueDequeueV2", {{never}}, {{"component_types", floats}}); });
    EXPECT_TRUE(e.code() == Code::kUnavailable || e.code() == Code::kAborted) << e.message();
  });
  servers[1].reset();
  waiting.join();
  alone.join();
}

TEST_F(EagerTasksTest, AnOperationThatWaitsHasAnEnd) {
  const std::vector<DType> floats{DType::kFloat};
  const Tensor q = on(1, "FIFOQueueV2", {}, {{"component_types", floats}});
  eager.set_operation_timeout(50);
  EXPECT_EQ(error_of([&] {
              eager.execute("QueueDequeueV2", {{q}}, {{"component_types", floats}});
            }).code(),
            Code::kDeadlineExceeded);
  eager.set_operation_timeout(0);
  eager.execute("QueueEnqueueV2", {{q, Tensor::scalar(4.f)}}, {{"Tcomponents", floats}});
  EXPECT_EQ(value(eager.execute("QueueDequeueV2", {{q}}, {{"component_types", floats}})[0]), 4.f);
}

}  // namespace
}  // namespace emplace::testing
