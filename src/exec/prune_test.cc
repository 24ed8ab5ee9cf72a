#include "exec/prune.h"

#include <gtest/gtest.h>

#include "emplace/ops.h"

namespace emplace {
namespace {

std::vector<std::string> names(const std::vector<Node*>& nodes) {
  std::vector<std::string> out;
  for (const Node* n : nodes) out.push_back(n->name());
  return out;
}

class PruneTest : public ::testing::Test {
 protected:
  Graph g;
  Scope in_graph = g.as_default();
  Output a = op("Neg", {constant(1.f, "one")}, {}, "a");
  Output b = op("Neg", {a}, {}, "b");
  Output unused = op("Neg", {b}, {}, "unused");
  std::vector<std::string> needed(Output root, const FeedIndex& feeds = {}) {
    return names(needed_nodes(std::span(&root.node, 1), feeds));
  }
};

TEST_F(PruneTest, KeepsWhatARootNeedsInputsFirst) {
  EXPECT_EQ(needed(b), (std::vector<std::string>{"one", "a", "b"}));
}

TEST_F(PruneTest, NothingIsNeededForAFedTensor) {
  EXPECT_EQ(needed(b, {{a, 0}}), (std::vector<std::string>{"b"}));
}

TEST_F(PruneTest, AFedOutputOfSeveralLeavesTheOthersNeeded) {
  const Output halves = op("Unpack", {constant({1.f, 2.f}, {2}, "two")}, {{"num", 2}}, "halves");
  const Output sum = op("AddV2", {halves, halves.node->output(1)}, {}, "sum");
  EXPECT_EQ(needed(sum, {{halves, 0}}), (std::vector<std::string>{"two", "halves", "sum"}));
}

TEST_F(PruneTest, ControlInputsAreNeeded) {
  g.add_control_input(a.node, op("Neg", {constant(2.f, "two")}, {}, "first").node);
  EXPECT_EQ(needed(a), (std::vector<std::string>{"one", "two", "first", "a"}));
}

TEST_F(PruneTest, AFedPlaceholderIsNoControlInput) {
  const Output x = placeholder(DType::kFloat, Shape{}, "x");
  g.add_control_input(a.node, x.node);
  EXPECT_EQ(needed(a, {{x, 0}}), (std::vector<std::string>{"one", "a"}));
  EXPECT_TRUE(is_fed_placeholder(*x.node, {{x, 0}}));
  EXPECT_FALSE(is_fed_placeholder(*a.node, {{a, 0}}));
}

TEST_F(PruneTest, EveryNodeComesOnce) {
  const Output twice = op("AddV2", {a, a}, {}, "twice");
  Node* const roots[] = {twice.node, a.node, twice.node};
  EXPECT_EQ(names(needed_nodes(roots, {})), (std::vector<std::string>{"one", "a", "twice"}));
}

TEST_F(PruneTest, ACycleIsAnErrorThatNamesANodeOnIt) {
  g.add_control_input(a.node, b.node);
  try {
    needed(b);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_TRUE(e.node() == "a" || e.node() == "b") << e.node();
  }
}

TEST_F(PruneTest, DepthIsNoMatter) {
  Output y = a;
  for (int i = 0; i < 100'000; ++i) y = op("Neg", {y});
  EXPECT_EQ(needed(y).size(), 100'002u);
}

}  // namespace
}  // namespace emplace
