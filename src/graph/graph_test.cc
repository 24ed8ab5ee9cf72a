#include "emplace/graph.h"

#include <gtest/gtest.h>

#include <thread>

#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::TestGraph;

NodeOptions named(std::string name) {
  NodeOptions options;
  options.name = std::move(name);
  return options;
}

TEST(Graph, AddsANodeWithItsTypesAndShapes) {
  TestGraph g;
  Node* a = g.placeholder(Shape({2, 3}));
  Node* b = g.placeholder(Shape({3, 4}));
  Node* m = g.add("MatMul", {a->output(), b->output()});
  EXPECT_EQ(m->name(), "MatMul");
  EXPECT_EQ(m->type(), "MatMul");
  EXPECT_EQ(m->id(), 2);
  EXPECT_EQ(m->output_type(0), DType::kFloat);
  EXPECT_EQ(m->output_shape(0), Shape({2, 4}));
  EXPECT_FALSE(m->output_is_ref(0));
  EXPECT_EQ(m->output().name(), "MatMul:0");
  EXPECT_EQ(m->inputs()[1], b->output());
  EXPECT_EQ(m->attr("transpose_b")->as<bool>(), false);
  EXPECT_EQ(&m->graph(), &g);
  g.verify();
}

TEST(Graph, FindsNodesAndTensorsByName) {
  TestGraph g;
  Node* a = g.scalar(1, "a");
  EXPECT_EQ(g.find("a"), a);
  EXPECT_EQ(g.find("b"), nullptr);
  EXPECT_EQ(g.tensor("a:0"), a->output());
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.tensor("a"); }),
            "The name 'a' looks a like a Tensor name, but is not a valid one. Tensor names must be "
            "of the form \"<op_name>:<output_index>\".");
  failure(Code::kInvalidArgument, [&] { g.tensor("a:x"); });
  failure(Code::kInvalidArgument, [&] { g.tensor("a:-1"); });
  EXPECT_EQ(failure(Code::kNotFound, [&] { g.tensor("b:0"); }),
            "The name 'b:0' refers to a Tensor which does not exist. The operation, 'b', does not "
            "exist in the graph.");
  EXPECT_EQ(failure(Code::kNotFound, [&] { g.tensor("a:1"); }),
            "The name 'a:1' refers to a Tensor which does not exist. The operation, 'a', exists "
            "but only has 1 outputs.");
}

TEST(Graph, AnErrorLeavesTheGraphUnchanged) {
  TestGraph g;
  Node* a = g.placeholder(Shape({1, 2}));
  Node* b = g.placeholder(Shape({3, 1}));
  const uint64_t before = g.version();
  failure(Code::kInvalidArgument, [&] { g.add("MatMul", {a->output(), b->output()}); });
  failure(Code::kNotFound, [&] { g.add("Nope", {}); });
  failure(Code::kInvalidArgument, [&] { g.add("MatMul", {a->output()}); });
  EXPECT_EQ(g.num_nodes(), 2u);
  EXPECT_EQ(g.version(), before);
  EXPECT_EQ(g.add("MatMul", {b->output(), a->output()})->name(), "MatMul");
}

TEST(Graph, AShapeErrorNamesTheNodeAndItsShapes) {
  TestGraph g;
  Node* a = g.placeholder(Shape({1, 2}), DType::kFloat, "zeros");
  Node* b = g.placeholder(Shape({3, 1}), DType::kFloat, "zeros");
  NodeOptions options = named("mm");
  options.source = "model.py:7";
  try {
    g.add("MatMul", {a->output(), b->output()}, {}, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "Dimensions must be equal, but are 2 and 3 for '{{node mm}} = MatMul[T=DT_FLOAT, "
              "transpose_a=false, transpose_b=false](zeros, zeros_1)' with input shapes: [1,2], "
              "[3,1].");
    EXPECT_EQ(e.node(), "mm");
    EXPECT_EQ(e.op(), "MatMul");
    EXPECT_EQ(e.source(), "model.py:7");
  }
}

TEST(Graph, AnAttributeErrorNamesTheNode) {
  TestGraph g;
  Node* s = g.constant(Tensor::string("s"));
  const std::string m = failure(Code::kInvalidArgument,
                                [&] { g.add("Neg", {s->output()}, {}, named("n")); });
  EXPECT_TRUE(m.starts_with("Value for attr 'T' of string is not in the list of allowed values: "
                            "float, double, int32, int64\n\t; NodeDef: {{node n}}; Op<name=Neg;"))
      << m;
}

TEST(Graph, NodesOfAnotherGraphAreRefused) {
  TestGraph g, other;
  Node* a = other.scalar(1, "a");
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.identity(a); }),
            "An input of 'Identity': node 'a' is not an element of this graph.");
  failure(Code::kInvalidArgument, [&] { g.add("Identity", {Output{}}); });
  Node* b = g.scalar(1);
  failure(Code::kInvalidArgument, [&] { g.add("Identity", {Output{b, 1}}); });
  failure(Code::kInvalidArgument, [&] { g.add("Identity", {Output{b, -1}}); });
  NodeOptions options;
  options.control_inputs = {a};
  failure(Code::kInvalidArgument, [&] { g.add("NoOp", {}, {}, options); });
}

TEST(Graph, ARefArgumentNeedsARefOutput) {
  TestGraph g;
  Node* v = g.variable("v");
  Node* c = g.scalar(1);
  EXPECT_TRUE(v->output_is_ref(0));
  Node* assign = g.add("Assign", {v->output(), c->output()});
  EXPECT_TRUE(assign->output_is_ref(0));
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.add("Assign", {c->output(), c->output()}); }),
            "'Assign' Op requires that input 'ref' be a mutable tensor (e.g.: a tf.Variable)");
}

TEST(Graph, AValueArgumentTakesARef) {
  TestGraph g;
  Node* read = g.identity(g.variable("v", Shape({2})));
  EXPECT_FALSE(read->output_is_ref(0));
  EXPECT_EQ(read->output_shape(0), Shape({2}));
}

TEST(Graph, KnowsWhatLiesBehindAHandle) {
  TestGraph g;
  Node* v = g.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape({7})}});
  Node* pass = g.identity(v);
  Node* read = g.add("ReadVariableOp", {pass->output()}, {{"dtype", DType::kFloat}});
  EXPECT_EQ(read->output_shape(0), Shape({7}));
}

TEST(Graph, SourceLinesStay) {
  TestGraph g;
  NodeOptions options;
  options.source = "train.py:12";
  EXPECT_EQ(g.add("NoOp", {}, {}, options)->source(), "train.py:12");
}

TEST(Graph, ANodeKnowsTheLineThatAddsIt) {
  TestGraph g;
  const std::string here = std::string(__FILE__) + ":" + std::to_string(__LINE__ + 1);
  EXPECT_EQ(g.add("NoOp", {})->source(), here);
  try {
    g.add("Nope", {});
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.source(), std::string(__FILE__) + ":" + std::to_string(__LINE__ - 3));
  }
}

TEST(Graph, UnknownAttributesAreRefused) {
  TestGraph g;
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.add("NoOp", {}, {{"foo", int64_t{3}}}); }),
            "NodeDef mentions attr 'foo' not in Op<name=NoOp; signature= -> >; NodeDef: "
            "{{node NoOp}}");
  EXPECT_EQ(g.num_nodes(), 0u);
  EXPECT_NE(g.add("NoOp", {}, {{"_foo", int64_t{3}}})->attr("_foo"), nullptr);
}

TEST(Graph, DefinitionIsTheOldOne) {
  TestGraph g;
  auto d = g.device("/gpu:2");
  Node* b = g.constant(Tensor::of<float>({1, 2, 3, 4, 5, 6}, Shape({3, 2})), named("b"));
  EXPECT_EQ(b->definition(),
            "b = Const[dtype=DT_FLOAT, value=Tensor<type: float shape: [3,2] values: 1 2 3...>, "
            "_device=\"/device:GPU:2\"]()");
}

TEST(Graph, DefinitionListsInputsAsWritten) {
  TestGraph g;
  Node* in = g.add("TestInput", {}, {}, named("in"));
  NodeOptions options = named("m");
  options.control_inputs = {g.noop("first")};
  Node* m = g.add("TestMul", {in->output(0), in->output(1)}, {}, options);
  EXPECT_EQ(m->definition(), "m = TestMul[](in, in:1, ^first)");
}

TEST(Graph, AFinalizedGraphTakesNoMoreNodes) {
  TestGraph g;
  g.noop();
  g.finalize();
  EXPECT_TRUE(g.finalized());
  EXPECT_EQ(failure(Code::kFailedPrecondition, [&] { g.noop(); }),
            "Graph is finalized and cannot be modified.");
  EXPECT_EQ(g.num_nodes(), 1u);
}

TEST(Graph, ChangesAreSeenInTheVersion) {
  TestGraph g;
  Node* a = g.noop();
  Node* b = g.noop();
  uint64_t v = g.version();
  const auto grew = [&] { return g.version() > std::exchange(v, g.version()); };
  g.set_device(a, "/cpu:0");
  EXPECT_TRUE(grew());
  EXPECT_EQ(a->device(), "/cpu:0");
  g.add_control_input(b, a);
  EXPECT_TRUE(grew());
  g.add_control_input(b, a);
  EXPECT_FALSE(grew());
  ASSERT_EQ(b->control_inputs().size(), 1u);
  g.set_attr(a, "_x", 3);
  EXPECT_TRUE(grew());
  EXPECT_EQ(a->attr("_x")->as<int64_t>(), 3);
}

TEST(Graph, ShapesAreMergedNotReplaced) {
  TestGraph g;
  Node* p = g.placeholder(Shape({-1, 3}));
  g.set_shape(p->output(), Shape({2, -1}));
  EXPECT_EQ(p->output_shape(0), Shape({2, 3}));
  failure(Code::kInvalidArgument, [&] { g.set_shape(p->output(), Shape({4, 3})); });
  EXPECT_EQ(p->output_shape(0), Shape({2, 3}));
}

TEST(Graph, LastIdCountsNodes) {
  TestGraph g;
  EXPECT_EQ(g.last_id(), 0);
  g.noop();
  g.noop();
  EXPECT_EQ(g.last_id(), 2);
  EXPECT_FALSE(g.has_seed());
  g.set_seed(7);
  EXPECT_TRUE(g.has_seed());
  EXPECT_EQ(g.seed(), 7u);
}

TEST(Graph, TheDefaultIsEachThreadsOwn) {
  TestGraph g, inner;
  auto outer_scope = g.as_default();
  EXPECT_EQ(&Graph::current(), &g);
  {
    auto inner_scope = inner.as_default();
    EXPECT_EQ(&Graph::current(), &inner);
    std::thread([&] {
      TestGraph mine;
      auto scope = mine.as_default();
      EXPECT_EQ(&Graph::current(), &mine);
    }).join();
  }
  EXPECT_EQ(&Graph::current(), &g);
}

TEST(Graph, AVeryDeepGraphIsBuiltVerifiedAndFreed) {
  TestGraph g;
  Node* at = g.scalar(1);
  for (int i = 0; i < 200'000; ++i) at = g.identity(at);
  EXPECT_EQ(at->name(), "Identity_199999");
  g.verify();
}

TEST(Graph, ThreadsMayAddAtOnce) {
  TestGraph g;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Node* at = g.scalar(1);
      for (int i = 0; i < 500; ++i) at = g.identity(at);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(g.num_nodes(), 2004u);
  g.verify();
}

}  // namespace
}  // namespace emplace
