#include <gtest/gtest.h>

#include "graph/function_op.h"
#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::TestGraph;

// A loop's skeleton: Enter -> Merge <- NextIteration.
TEST(Verify, ALoopThroughNextIterationIsFine) {
  TestGraph g;
  Node* enter = g.add("Enter", {g.scalar(1)->output()}, {{"frame_name", "f"}});
  Node* merge = g.add("Merge", {enter->output(), enter->output()});
  Node* next = g.add("NextIteration", {g.identity(merge)->output()});
  g.update_input(merge, 1, next->output());
  g.verify();
}

TEST(Verify, AnyOtherCycleIsNot) {
  TestGraph g;
  Node* enter = g.add("Enter", {g.scalar(1)->output()}, {{"frame_name", "f"}});
  Node* merge = g.add("Merge", {enter->output(), enter->output()}, {}, {});
  Node* body = g.identity(merge);
  g.update_input(merge, 1, body->output());
  EXPECT_EQ(failure(Code::kInternal, [&] { g.verify(); }),
            "Graph is broken at node 'Merge' (Merge): it depends on itself");
}

TEST(Verify, AControlCycleIsNot) {
  TestGraph g;
  Node* a = g.noop("a");
  Node* b = g.noop("b");
  g.add_control_input(b, a);
  g.add_control_input(a, b);
  failure(Code::kInternal, [&] { g.verify(); });
}

TEST(Verify, AnAttributeThatNoLongerFitsIsFound) {
  TestGraph g;
  Node* i = g.identity(g.scalar(1));
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.set_attr(i, "T", DType::kInt32); }),
            "Input 'input' of 'Identity' Op has type float32 that does not match expected type of "
            "int32.");
  g.verify();
  set_attr(const_cast<AttrList&>(i->attrs()), "T", DType::kInt32);  // as no user can
  EXPECT_EQ(failure(Code::kInternal, [&] { g.verify(); }),
            "Graph is broken at node 'Identity' (Identity): input 0 is float32, expected int32");
}

TEST(UpdateInput, ChecksRangeTypeAndOwner) {
  TestGraph g, other;
  Node* i = g.identity(g.scalar(1));
  failure(Code::kOutOfRange, [&] { g.update_input(i, 1, g.scalar(1)->output()); });
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.update_input(i, 0, g.number(1)->output()); }),
            "Input 0 of node Identity was passed int32 from Const_2:0 incompatible with expected "
            "float.");
  failure(Code::kInvalidArgument, [&] { g.update_input(i, 0, other.scalar(1)->output()); });
  Node* fresh = g.scalar(5);
  g.update_input(i, 0, fresh->output());
  EXPECT_EQ(i->inputs()[0].node, fresh);
}

std::shared_ptr<Function> twice(const std::string& name, std::string op = "Add") {
  auto f = std::make_shared<Function>();
  auto body = std::make_shared<TestGraph>();
  f->name = name;
  Node* x = body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}});
  f->inputs = {x};
  f->outputs = {body->add(op, {x->output(), x->output()})->output()};
  f->input_names = {"x"};
  f->output_names = {"y"};
  f->body = body;
  return f;
}

TEST(Functions, AreFoundByName) {
  TestGraph g;
  g.add_function(twice("f"));
  EXPECT_EQ(g.find_function("f")->input_names[0], "x");
  EXPECT_EQ(g.find_function("g"), nullptr);
  EXPECT_EQ(g.functions().size(), 1u);
}

TEST(Functions, TheSameAgainIsFineAnotherIsNot) {
  TestGraph g;
  g.add_function(twice("f"));
  g.add_function(twice("f"));
  EXPECT_EQ(g.functions().size(), 1u);
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.add_function(twice("f", "Mul")); }),
            "Cannot add function 'f' because a different function with the same name already "
            "exists.");
  failure(Code::kInvalidArgument, [&] { g.add_function(twice("NoOp")); });
}

TEST(Functions, CanBeCalledByTheirName) {
  TestGraph g;
  g.add_function(twice("f"));
  Node* call = g.add("f", {g.scalar(1)->output()});
  EXPECT_EQ(call->type(), "f");
  EXPECT_EQ(call->output_type(0), DType::kFloat);
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.add("f", {g.number(1)->output()}); }),
            "Input 'x' of 'f' Op has type int32 that does not match expected type of float32.");
  g.verify();
}

}  // namespace
}  // namespace emplace
