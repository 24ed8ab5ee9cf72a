// What a user can get wrong is an error of the right code that names the place, never an abort; and
// the session works on.
#include <gtest/gtest.h>

#include "emplace/emplace.h"

namespace emplace {
namespace {

class BadInput : public ::testing::Test {
 protected:
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x = placeholder(DType::kFloat, Shape{}, "x");
  Feeds feeds = {{x, Tensor::scalar(1.f)}};

  template <class F>
  static Error error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e;
    }
    ADD_FAILURE() << "no error";
    return {Code::kOk, ""};
  }
};

TEST_F(BadInput, AGraph200000NodesDeepRuns) {
  Output y = x;
  for (int i = 0; i < 200'000; ++i) y = op("Neg", {y});
  Session s(graph);
  EXPECT_EQ(s.run(y, feeds).item<float>(), 1.f);
}

TEST_F(BadInput, ACycleIsNamed) {
  const Output a = op("Neg", {x}, {}, "a"), b = op("Neg", {a}, {}, "b");
  graph.add_control_input(a.node, b.node);
  Session s(graph);
  const Error e = error_of([&] { s.run(b, feeds); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
}

TEST_F(BadInput, AnOutputThatDoesNotExistIsRefused) {
  const Output a = op("Neg", {x}, {}, "a");
  Session s(graph);
  const Error e = error_of([&] { s.run(Output{a.node, 3}, feeds); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_NE(e.message().find("'a'"), std::string::npos) << e.message();
  EXPECT_EQ(s.run(a, feeds).item<float>(), -1.f);
}

TEST_F(BadInput, ANodeOfAnotherGraphIsRefused) {
  Graph other;
  Output foreign;
  {
    const Scope in_other = other.as_default();
    foreign = constant(1.f, "foreign");
  }
  Session s(graph);
  EXPECT_EQ(error_of([&] { s.run(foreign); }).code(), Code::kInvalidArgument);
}

TEST_F(BadInput, ATensorFedTwiceIsRefused) {
  const Output a = op("Neg", {x}, {}, "a");
  Session s(graph);
  const Error e = error_of([&] { s.run(a, {feeds[0], feeds[0]}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(), "Endpoint \"x:0\" fed more than once.");
}

TEST_F(BadInput, AFunctionThatCallsItselfIsRefused) {
  auto f = std::make_shared<Function>();
  f->name = "again";
  f->body = std::make_shared<Graph>();
  Node* arg = f->body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}});
  Node* call = f->body->add("PartitionedCall", {arg->output()},
                            {{"Tout", std::vector<DType>{DType::kFloat}},
                             {"f", FunctionName{"again", {}}}});
  f->inputs = {arg};
  f->outputs = {call->output()};
  f->input_names = {"x"};
  f->output_names = {"y"};
  f->body->add_function(f);
  graph.add_function(f);
  const Output y = op("PartitionedCall", {x}, {{"Tout", std::vector<DType>{DType::kFloat}},
                                               {"f", FunctionName{"again", {}}}});
  Session s(graph);
  const Error e = error_of([&] { s.run(y, feeds); });
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_NE(e.message().find("again"), std::string::npos) << e.message();
  f->body.reset();  // it holds the function that holds it
}

TEST_F(BadInput, OutOfMemoryOnAGpuSaysWhoHoldsWhatAndTheSessionWorksOn) {
  const Scope gpu = graph.device("/gpu:0");
  const Output big = placeholder(DType::kFloat, Shape{-1}, "big");
  const VariableNodes held = variable(Tensor(DType::kFloat, Shape{100'000}), "held");
  const Output sum = reduce_sum(op("Neg", {big}, {}, "neg"), {0});
  SessionOptions o;
  o.virtual_gpus = 1;
  o.virtual_gpu_memory = 2 << 20;
  Session s(graph, o);
  s.run(held.initializer);
  const Error e =
      error_of([&] { s.run(sum, {{big, Tensor(DType::kFloat, Shape{1 << 20})}}); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted);
  EXPECT_NE(e.message().find("held"), std::string::npos) << e.message();
  EXPECT_EQ(s.run(sum, {{big, Tensor::of({1.f, 2.f}, {2})}}).item<float>(), -3.f);
}

}  // namespace
}  // namespace emplace
