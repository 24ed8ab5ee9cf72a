#include "graph/names.h"

#include <gtest/gtest.h>

#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::TestGraph;

TEST(Names, AreNumberedInOrder) {
  TestGraph g;
  EXPECT_EQ(g.noop()->name(), "NoOp");
  EXPECT_EQ(g.noop()->name(), "NoOp_1");
  EXPECT_EQ(g.noop()->name(), "NoOp_2");
  EXPECT_EQ(g.noop("a")->name(), "a");
  EXPECT_EQ(g.noop("a")->name(), "a_1");
}

TEST(Names, CaseDoesNotTellThemApart) {
  TestGraph g;
  EXPECT_EQ(g.noop("foo")->name(), "foo");
  EXPECT_EQ(g.noop("Foo")->name(), "Foo_1");
  EXPECT_EQ(g.noop("FOO")->name(), "FOO_2");
}

TEST(Names, ANumberedNameInUseIsPassedOver) {
  TestGraph g;
  g.noop("a");
  g.noop("a_1");
  EXPECT_EQ(g.noop("a")->name(), "a_2");
  EXPECT_EQ(g.noop("a_1")->name(), "a_1_1");
  EXPECT_EQ(g.noop("a")->name(), "a_3");
}

TEST(Names, UniqueNameCanBeAskedWithoutTaking) {
  TestGraph g;
  EXPECT_EQ(g.unique_name("x", false), "x");
  EXPECT_EQ(g.unique_name("x"), "x");
  EXPECT_EQ(g.unique_name("x", false), "x_1");
  EXPECT_EQ(g.unique_name("x"), "x_1");
}

TEST(Names, ScopesOpenNestAndClose) {
  TestGraph g;
  EXPECT_EQ(g.current_name_scope(), "");
  {
    auto a = g.name_scope("a");
    EXPECT_EQ(g.current_name_scope(), "a/");
    EXPECT_EQ(g.noop("x")->name(), "a/x");
    auto b = g.name_scope("b");
    EXPECT_EQ(g.noop("x")->name(), "a/b/x");
    EXPECT_EQ(g.noop("x")->name(), "a/b/x_1");
  }
  EXPECT_EQ(g.current_name_scope(), "");
  auto again = g.name_scope("a");
  EXPECT_EQ(g.noop("x")->name(), "a_1/x");
}

TEST(Names, AScopeWithASlashIsReentered) {
  TestGraph g;
  { auto a = g.name_scope("a"); }
  auto b = g.name_scope("b");
  auto a = g.name_scope("a/");
  EXPECT_EQ(g.current_name_scope(), "a/");
  EXPECT_EQ(g.noop("x")->name(), "a/x");
}

TEST(Names, AnEmptyScopeGoesToTheRoot) {
  TestGraph g;
  auto a = g.name_scope("a");
  {
    auto root = g.name_scope("");
    EXPECT_EQ(g.noop("x")->name(), "x");
  }
  EXPECT_EQ(g.noop("x")->name(), "a/x");
}

TEST(Names, ANodeMayTakeItsScopesName) {
  TestGraph g;
  auto a = g.name_scope("a");
  EXPECT_EQ(g.noop("a/")->name(), "a");
  EXPECT_EQ(failure(Code::kAlreadyExists, [&] { g.noop("a/"); }),
            "Duplicate node name in graph: 'a'");
}

TEST(Names, AnExactNameIsTakenAsItIs) {
  TestGraph g;
  auto scope = g.name_scope("s");
  NodeOptions options;
  options.name = "q/x";
  options.exact_name = true;
  EXPECT_EQ(g.add("NoOp", {}, {}, options)->name(), "q/x");
  failure(Code::kAlreadyExists, [&] { g.add("NoOp", {}, {}, options); });
  auto root = g.name_scope("");
  EXPECT_EQ(g.noop("q/x")->name(), "q/x_1");
}

TEST(Names, BadOnesAreRefusedInTensorFlowsWords) {
  TestGraph g;
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { g.noop("_x"); }),
            "`_x` is not a valid node name. Accepted names conform to Regex "
            R"(/^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/)");
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { auto s = g.name_scope("_x"); }),
            "'_x' is not a valid root scope name. A root scope name has to match the following "
            R"(pattern: ^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$)");
  auto o = g.name_scope("o");
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { auto s = g.name_scope("a b"); }),
            "'a b' is not a valid scope name. A scope name has to match the following pattern: "
            R"(^[A-Za-z0-9_.\\/>-]*$)");
  auto p = g.name_scope("_x");
  EXPECT_EQ(g.noop("y")->name(), "o/_x/y");
  failure(Code::kInvalidArgument, [&] { g.noop("a b"); });
  failure(Code::kInvalidArgument, [&] { g.noop("a:0"); });
}

}  // namespace
}  // namespace emplace
