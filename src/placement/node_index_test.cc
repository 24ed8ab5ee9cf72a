#include "placement/node_index.h"

#include "placement/placement_testutil.h"

namespace emplace::placement {
namespace {

using placement_test::add_node;
using placement_test::test_ops;

class Nodes : public ::testing::Test {
 protected:
  Node* add(std::string_view op, std::string name, std::vector<Output> inputs = {},
            std::vector<Node*> after = {}) {
    return add_node(graph, op, std::move(name), std::move(inputs), "", {}, std::move(after));
  }
  Node* source(std::string name) { return add("TestCPUGPUOutput", std::move(name)); }
  std::vector<std::string> logged() {
    std::vector<std::string> names;
    const auto nodes = graph.nodes();
    for (int i : log_order(nodes)) names.push_back(nodes[i]->name());
    return names;
  }
  Graph graph{test_ops()};
};

TEST_F(Nodes, AreFoundByPosition) {
  Node* a = source("a");
  Node* b = source("b");
  Node* c = source("c");
  const std::vector<Node*> all = {a, b, c}, some = {c, a};
  EXPECT_EQ(NodeIndex(all).of(b), 1);
  const NodeIndex index(some);
  EXPECT_EQ(index.of(c), 0);
  EXPECT_EQ(index.of(a), 1);
  EXPECT_EQ(index.of(b), -1);
}

TEST_F(Nodes, OfAnotherGraphAreNotMistaken) {
  Node* a = source("a");
  Graph other{test_ops()};
  Node* b = add_node(other, "TestCPUGPUOutput", "b");
  const std::vector<Node*> nodes = {a};
  EXPECT_EQ(NodeIndex(nodes).of(b), -1);
}

TEST_F(Nodes, KnowTheirConsumersThroughDataAndControlEdges) {
  Node* a = source("a");
  Node* b = add("TestAdd", "b", {a->output(), a->output()});
  add("NoOp", "c", {}, {a, b});
  const auto nodes = graph.nodes();
  const Consumers consumers(nodes, NodeIndex(nodes));
  EXPECT_EQ(std::vector<int>(consumers[0].begin(), consumers[0].end()), (std::vector{1, 1, 2}));
  EXPECT_EQ(std::vector<int>(consumers[1].begin(), consumers[1].end()), (std::vector{2}));
  EXPECT_TRUE(consumers[2].empty());
}

TEST_F(Nodes, AreLoggedLastReadyFirst) {
  Node* c0 = source("Const");
  Node* c1 = source("Const_1");
  Node* m0 = add("TestAdd", "MatMul", {c0->output(), c1->output()});
  Node* c2 = source("Const_2");
  Node* c3 = source("Const_3");
  Node* m1 = add("TestAdd", "MatMul_1", {c2->output(), c3->output()});
  add("TestAdd", "AddN", {m0->output(), m1->output()});
  EXPECT_EQ(logged(), (std::vector<std::string>{"Const_3", "Const_2", "MatMul_1", "Const_1",
                                                "Const", "MatMul", "AddN"}));
}

TEST_F(Nodes, InLoopsAreLoggedOnceEach) {
  Node* in = source("in");
  Node* merge = add("Merge", "merge", {in->output(), in->output()});
  Node* body = add("TestRelu", "body", {merge->output()});
  Node* next = add("NextIteration", "next", {body->output()});
  graph.update_input(merge, 1, next->output());
  EXPECT_EQ(logged(), (std::vector<std::string>{"in", "merge", "body", "next"}));
}

}  // namespace
}  // namespace emplace::placement
