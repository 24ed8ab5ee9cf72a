// A body that is given a variable's handle works on the variable where it is.
#include "all/flow_fixture.h"

namespace emplace {
namespace {

class FunctionVariables : public testing::FlowFixture {
 protected:
  const std::vector<DType> handle_ = {DType::kResource};

  Output variable_on(const char* device, const char* name) {
    const Scope on = graph.device(device);
    const Output v = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{2}}}, name);
    initializers.push_back(graph.add("AssignVariableOp", {v, constant({1.f, 2.f}, {2})}));
    return v;
  }
  static Output read(Output v) { return op("ReadVariableOp", {v}, {{"dtype", DType::kFloat}}); }
  static Values twice(Values v) { return {plus(read(v[0]), read(v[0]))}; }
  static Values add_one(Values v) {
    Graph& g = v[0].node->graph();
    Node* add = g.add("AssignAddVariableOp", {v[0], constant({1.f, 1.f}, {2})});
    const Scope after = g.control_dependencies(std::vector<Node*>{add});
    return {read(v[0])};
  }
  Output called(const std::string& f, Output v) {
    return op("StatefulPartitionedCall", {v}, {{"Tout", std::vector<DType>{DType::kFloat}},
                                               {"f", FunctionName{f, {}}}});
  }
  // What the fetch gives; and where variables were read.
  std::string run(Output fetch) {
    auto s = session(gpus(2));
    for (Node* n : initializers) s->run(n);
    RunOptions o;
    o.trace = true;
    RunMetadata m;
    const std::vector<Tensor> got = s->run(Feeds{}, std::vector<Output>{fetch}, {}, o, &m);
    devices.clear();
    for (const NodeStats& n : m.nodes)
      if (n.op == "ReadVariableOp") devices.insert(n.device.substr(n.device.rfind('/')));
    return got[0].str();
  }
  std::vector<Node*> initializers;
  std::set<std::string> devices;
  using Set = std::set<std::string>;
};

TEST_F(FunctionVariables, AreReadOnTheirDevice) {
  const Output v = variable_on("/gpu:1", "v");
  const Scope on = graph.device("/cpu:0");
  EXPECT_EQ(run(called(body("f", handle_, twice), v)), "[2. 4.]");
  EXPECT_EQ(devices, Set{"/device:GPU:1"});
}

TEST_F(FunctionVariables, AreReadOnTheHostByACallOnAGpu) {
  const Output v = variable_on("/cpu:0", "v");
  const Scope on = graph.device("/gpu:0");
  EXPECT_EQ(run(called(body("f", handle_, twice), v)), "[2. 4.]");
  EXPECT_EQ(devices, Set{"/device:CPU:0"});
}

TEST_F(FunctionVariables, AreWrittenOnTheirDevice) {
  const Output v = variable_on("/gpu:1", "v");
  const Scope on = graph.device("/cpu:0");
  EXPECT_EQ(run(called(body("f", handle_, add_one), v)), "[2. 3.]");
  EXPECT_EQ(devices, Set{"/device:GPU:1"});
}

TEST_F(FunctionVariables, AreFoundThroughACallInACall) {
  const Output v = variable_on("/gpu:1", "v");
  const std::string inner = body("inner", handle_, twice);
  const std::string outer =
      body("outer", handle_, [&](Values x) { return Values{called(inner, op("Identity", {x[0]}))}; });
  const Scope on = graph.device("/cpu:0");
  EXPECT_EQ(run(called(outer, v)), "[2. 4.]");
  EXPECT_EQ(devices, Set{"/device:GPU:1"});
}

TEST_F(FunctionVariables, AreFoundInABranch) {
  const Output v = variable_on("/gpu:1", "v");
  const std::string then_do = body("then", handle_, add_one), else_do = body("else", handle_, twice);
  const Scope on = graph.device("/cpu:0");
  Node* n = if_else(constant(Tensor::scalar(true)), then_do, else_do, {v}, {DType::kFloat});
  EXPECT_EQ(run(n->output()), "[2. 3.]");
  EXPECT_EQ(devices, Set{"/device:GPU:1"});
}

TEST_F(FunctionVariables, AreFoundInALoop) {
  const Output v = variable_on("/gpu:1", "v");
  const std::vector<DType> types = {DType::kInt32, DType::kFloat, DType::kResource};
  const std::string test =
      body("test", types, [](Values x) { return Values{less(x[0], number(3))}; });
  const std::string round = body("round", types, [](Values x) {
    return Values{plus(x[0], number(1)), plus(x[1], add_one({x[2]})[0]), x[2]};
  });
  const Scope on = graph.device("/cpu:0");
  Node* loop = while_loop(test, round, {number(0), constant({0.f, 0.f}, {2}), v});
  EXPECT_EQ(run(loop->output(1)), "[ 9. 12.]");  // 2 + 3 + 4, 3 + 4 + 5
  EXPECT_EQ(devices, Set{"/device:GPU:1"});
}

}  // namespace
}  // namespace emplace
