#include "exec/variables.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

using testing::StepGraphMaker;

// One resource variable; reads, users and writes of it, put in order by control edges.
class VariablesTest : public ::testing::Test {
 protected:
  StepGraphMaker m;
  Node* const handle_node = m.graph().add(
      "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{16}}, {"shared_name", "v"}});
  const int handle = make_handle(handle_node);

  int make_handle(Node* n) {
    const int h = m.add_node(n, {});
    m.g.steps[h].outputs[0].dtype = DType::kResource;
    return h;
  }
  int read(int from = -1) {
    Node* n = m.graph().add("ReadVariableOp", {handle_node->output()}, {{"dtype", DType::kFloat}});
    return m.add_node(n, {{from < 0 ? handle : from, 0}});
  }
  int write(int to = -1) {
    const Tensor one(DType::kFloat, Shape{16});
    Node* c = m.graph().add("Const", {}, {{"value", one}, {"dtype", DType::kFloat}});
    Node* n = m.graph().add("AssignAddVariableOp", {handle_node->output(), c->output()});
    const int w = m.add_node(n, {{to < 0 ? handle : to, 0}});
    m.g.steps[w].outputs.clear();
    return w;
  }
  int use(int of) { return m.add({{of, 0}}); }
  void plan() { plan_variables(m.g, Order(m.g), Users(m.g)); }
  bool snapshot(int step) const { return m.g.steps[step].snapshot; }
  int own_aliases(int step) const { return m.g.steps[step].own_aliases; }
};

TEST_F(VariablesTest, AReadSharesMemoryWhereNobodyWrites) {
  const int r = read();
  use(r);
  plan();
  EXPECT_FALSE(snapshot(r));
}

TEST_F(VariablesTest, AReadWhoseUsersAreDoneBeforeTheWriteSharesMemory) {
  const int r = read(), u = use(r), w = write();
  m.order(u, w);
  m.order(r, w);
  plan();
  EXPECT_FALSE(snapshot(r));
  EXPECT_EQ(own_aliases(w), 1);
}

TEST_F(VariablesTest, AReadThatMayOutliveAWriteIsASnapshot) {
  const int r = read();
  use(r);  // may run after the write
  const int w = write();
  m.order(r, w);
  plan();
  EXPECT_TRUE(snapshot(r));
  EXPECT_EQ(own_aliases(w), 0);
}

TEST_F(VariablesTest, AReadAfterTheWriteSharesMemory) {
  const int w = write(), r = read();
  m.order(w, r);
  use(r);
  plan();
  EXPECT_FALSE(snapshot(r));
  EXPECT_EQ(own_aliases(w), 0);
}

TEST_F(VariablesTest, AFetchedReadBeforeAWriteIsASnapshot) {
  const int r = read(), w = write();
  m.order(r, w);
  m.g.fetches = {{r, 0}};
  plan();
  EXPECT_TRUE(snapshot(r));
}

TEST_F(VariablesTest, AnUnorderedWriteForcesASnapshot) {
  const int r = read();
  write();
  plan();
  EXPECT_TRUE(snapshot(r));
}

TEST_F(VariablesTest, AWriteOfAnotherVariableDoesNot) {
  Node* other_node = m.graph().add(
      "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{16}}, {"shared_name", "u"}});
  const int r = read(), w = write(make_handle(other_node));
  use(r);
  plan();
  EXPECT_FALSE(snapshot(r));
  EXPECT_EQ(own_aliases(w), 0);
}

TEST_F(VariablesTest, TwoNodesOfOneNameAreOneVariable) {
  Node* same_node = m.graph().add(
      "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{16}}, {"shared_name", "v"}});
  const int r = read();
  write(make_handle(same_node));
  plan();
  EXPECT_TRUE(snapshot(r));
}

TEST_F(VariablesTest, ViewsOfAReadCountAsItsUsers) {
  const int r = read(), view = m.add({{r, 0}}, 16, {.forwards = true});
  use(view);  // unordered
  const int w = write();
  m.order(r, w);
  m.order(view, w);
  plan();
  EXPECT_TRUE(snapshot(r));
}

}  // namespace
}  // namespace emplace
