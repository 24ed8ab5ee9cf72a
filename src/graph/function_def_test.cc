#include "graph/function_def.h"

#include <gtest/gtest.h>

#include "graph/graph_def.h"
#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::test_ops;
using testing::TestGraph;

// f(x, y) = (split(x)[1] * y, x), through an op with two outputs.
std::shared_ptr<Function> sample(const std::string& name = "f") {
  auto f = std::make_shared<Function>();
  auto body = std::make_shared<TestGraph>();
  NodeOptions x_name, y_name;
  x_name.name = "x";
  y_name.name = "y";
  Node* x = body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}}, x_name);
  Node* y = body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 1}}, y_name);
  body->set_shape(x->output(), Shape({-1, 3}));
  Node* two = body->add("TestOneInputTwoOutputs", {x->output()});
  Node* mul = body->add("Mul", {two->output(1), y->output()});
  Node* last = body->noop("last");
  body->add_control_input(last, mul);
  f->name = name;
  f->body = body;
  f->inputs = {x, y};
  f->outputs = {mul->output(), x->output()};
  f->input_names = {"x", "y"};
  f->output_names = {"product", "same"};
  f->control_outputs = {last};
  f->attrs = {{"_noinline", true}};
  f->stateful = true;
  return f;
}

TEST(FunctionDef, IsWrittenAsTensorFlowDoes) {
  proto::FunctionDef def;
  to_proto(*sample(), &def);
  EXPECT_EQ(def.signature().name(), "f");
  EXPECT_EQ(def.signature().input_arg(1).name(), "y");
  EXPECT_EQ(def.signature().input_arg(1).type(), proto::DT_FLOAT);
  EXPECT_TRUE(def.signature().is_stateful());
  ASSERT_EQ(def.node_def_size(), 3);  // inputs are no nodes
  EXPECT_EQ(def.node_def(0).input(0), "x");
  EXPECT_EQ(def.node_def(1).input(0), "TestOneInputTwoOutputs:z:0");
  EXPECT_EQ(def.node_def(1).input(1), "y");
  EXPECT_EQ(def.node_def(2).input(0), "^Mul");
  EXPECT_EQ(def.ret().at("product"), "Mul:z:0");
  EXPECT_EQ(def.ret().at("same"), "x");
  EXPECT_EQ(def.control_ret().at("last"), "last");
  EXPECT_EQ(def.arg_attr().at(0).attr().at("_output_shapes").list().shape(0).dim(1).size(), 3);
  EXPECT_TRUE(def.attr().at("_noinline").b());
}

TEST(FunctionDef, GoesThereAndBack) {
  TestGraph library;
  const auto f = sample();
  const auto back = function_from_def(function_def(*f), library);
  EXPECT_EQ(back->name, "f");
  EXPECT_TRUE(back->stateful);
  EXPECT_EQ(back->inputs[0]->type(), "_Arg");
  EXPECT_EQ(back->inputs[0]->output_shape(0), Shape({-1, 3}));
  EXPECT_EQ(back->outputs[0].node->type(), "Mul");
  EXPECT_EQ(back->outputs[0].node->inputs()[0].index, 1);
  EXPECT_EQ(back->outputs[1].node, back->inputs[0]);
  EXPECT_EQ(back->control_outputs[0]->name(), "last");
  EXPECT_EQ(function_def(*back), function_def(*f));
  back->body->verify();
}

TEST(FunctionDef, LongNamesGoThereAndBack) {
  auto f = sample();
  NodeOptions options;
  options.name = "a/name/that/does/not/fit/into/a/small/string";
  f->outputs[1] = f->body->add("Identity", {f->inputs[0]->output()}, {}, options)->output();
  TestGraph library;
  const auto back = function_from_def(function_def(*f), library);
  EXPECT_EQ(back->outputs[1].node->name(), options.name);
}

TEST(FunctionDef, TravelsWithItsGraph) {
  TestGraph g;
  g.add_function(sample());
  Node* c = g.scalar(1);
  g.add("f", {c->output(), c->output()});
  g.add("PartitionedCall", {c->output(), c->output()},
        {{"f", FunctionName{"f", {}}}, {"Tout", std::vector{DType::kFloat, DType::kFloat}}});
  TestGraph copy;
  import_graph_def(copy, graph_def(g));
  ASSERT_EQ(copy.functions().size(), 1u);
  EXPECT_EQ(copy.find("PartitionedCall")->attr("f")->as<FunctionName>().name, "f");
  EXPECT_EQ(copy.find("f")->num_outputs(), 2);
  ImportOptions again;  // the same function a second time is fine
  again.prefix = "again";
  import_graph_def(copy, graph_def(g), again);
  EXPECT_EQ(copy.functions().size(), 1u);
}

// A FunctionDef with no inputs whose one node calls `callee` by name.
proto::FunctionDef caller(const std::string& name, const std::string& callee) {
  proto::FunctionDef f;
  f.mutable_signature()->set_name(name);
  proto::NodeDef* n = f.add_node_def();
  n->set_name("call");
  n->set_op(callee);
  return f;
}

TEST(FunctionDef, NestedOnesAreReadInAnyOrder) {
  proto::GraphDef def;
  *def.mutable_library()->add_function() = caller("outer", "inner");
  *def.mutable_library()->add_function() = caller("inner", "NoOp");
  proto::NodeDef* n = def.add_node();
  n->set_name("n");
  n->set_op("outer");
  TestGraph g;
  import_graph_def(g, def, {});
  EXPECT_EQ(g.functions().size(), 2u);
  EXPECT_EQ(g.find_function("outer")->body->find("call")->type(), "inner");
}

TEST(FunctionDef, OneThatCallsItselfIsRefused) {
  proto::GraphDef def;
  *def.mutable_library()->add_function() = caller("a", "b");
  *def.mutable_library()->add_function() = caller("b", "a");
  TestGraph g;
  failure(Code::kInvalidArgument, [&] { import_graph_def(g, def, {}); });
  EXPECT_TRUE(g.functions().empty());
}

TEST(FunctionDef, CallsThatNestTooDeepAreRefused) {
  const auto chain = [](int length) {
    proto::GraphDef def;
    for (int i = 0; i < length; ++i)
      *def.mutable_library()->add_function() =
          caller("f" + std::to_string(i), i + 1 < length ? "f" + std::to_string(i + 1) : "NoOp");
    return def;
  };
  TestGraph g;
  import_graph_def(g, chain(500), {});
  TestGraph h;
  const std::string m =
      failure(Code::kInvalidArgument, [&] { import_graph_def(h, chain(20'000), {}); });
  EXPECT_EQ(m, "Function 'f500': calls of functions nest deeper than 500");
  EXPECT_TRUE(h.functions().empty());
}

TEST(FunctionDef, BadOnesAreRefused) {
  TestGraph g;
  const auto refused = [&](Code code, auto change) {
    proto::FunctionDef def;
    to_proto(*sample(), &def);
    change(def);
    return failure(code, [&] { function_from_def(def.SerializeAsString(), g); });
  };
  EXPECT_EQ(refused(Code::kInvalidArgument, [](auto& d) { d.clear_ret(); }),
            "Function 'f': no value for output 'product'");
  EXPECT_EQ(refused(Code::kInvalidArgument,
                    [](auto& d) { (*d.mutable_ret())["product"] = "Mul:q:0"; }),
            "Function 'f': unknown input 'Mul:q:0'");
  EXPECT_EQ(refused(Code::kInvalidArgument,
                    [](auto& d) { (*d.mutable_ret())["product"] = "nope"; }),
            "Function 'f': unknown output 'nope'");
  refused(Code::kInvalidArgument, [](auto& d) { d.mutable_node_def(0)->set_input(0, "Q:z:0"); });
  refused(Code::kNotFound, [](auto& d) { d.mutable_node_def(0)->set_op("Nope"); });
  refused(Code::kUnimplemented, [](auto& d) {
    d.mutable_signature()->mutable_input_arg(0)->clear_type();
    d.mutable_signature()->mutable_input_arg(0)->set_type_attr("T");
  });
  failure(Code::kInvalidArgument, [&] { function_from_def("\xff", g); });
}

TEST(FunctionDef, ADifferentOneOfTheNameIsRefusedAndTheGraphUnchanged) {
  TestGraph g;
  g.add_function(sample());
  proto::GraphDef def;
  *def.mutable_library()->add_function() = caller("f", "NoOp");
  *def.mutable_library()->add_function() = caller("new", "NoOp");
  failure(Code::kInvalidArgument, [&] { import_graph_def(g, def, {}); });
  EXPECT_EQ(g.functions().size(), 1u);
}

TEST(FunctionDef, TwoOfANameInALibraryMustBeTheSame) {
  proto::GraphDef def;
  *def.mutable_library()->add_function() = caller("f", "NoOp");
  *def.mutable_library()->add_function() = caller("f", "NoOp");
  TestGraph g;
  import_graph_def(g, def, {});
  EXPECT_EQ(g.functions().size(), 1u);
  def.mutable_library()->mutable_function(1)->mutable_node_def(0)->set_name("other");
  TestGraph h;
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { import_graph_def(h, def, {}); }),
            "Cannot add function 'f' because a different function with the same name already "
            "exists.");
  EXPECT_TRUE(h.functions().empty());
}

TEST(FunctionDef, IncompleteOnesAreRefused) {
  TestGraph g;
  const auto refused = [&](auto change) {
    auto f = sample();
    change(*f);
    return failure(Code::kInvalidArgument, [&] { g.add_function(f); });
  };
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.add_function(nullptr); }), "Function is null");
  EXPECT_EQ(refused([](Function& f) { f.name.clear(); }), "Function '' has no name");
  EXPECT_EQ(refused([](Function& f) { f.body = nullptr; }), "Function 'f' has no body");
  EXPECT_EQ(refused([](Function& f) { f.inputs[1] = nullptr; }),
            "Function 'f': input 1 is not a node of its body");
  EXPECT_EQ(refused([](Function& f) { f.inputs[0] = f.control_outputs[0]; }),
            "Function 'f': input 0 has no output");
  EXPECT_EQ(refused([](Function& f) { f.outputs[0] = {}; }),
            "Function 'f': output 0 is not a node of its body");
  EXPECT_EQ(refused([](Function& f) { f.outputs[0].index = 7; }),
            "Function 'f': output 0 is 'Mul:7', and that node has 1 outputs");
  EXPECT_EQ(refused([&](Function& f) { f.outputs[1] = g.scalar(1)->output(); }),
            "Function 'f': output 1 is not a node of its body");
  EXPECT_EQ(refused([](Function& f) { f.control_outputs = {nullptr}; }),
            "Function 'f': control output 0 is not a node of its body");
  EXPECT_TRUE(g.functions().empty());
}

}  // namespace
}  // namespace emplace
