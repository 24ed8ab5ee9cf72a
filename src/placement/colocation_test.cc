#include "placement/colocation.h"

#include <fmt/format.h>

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using ::testing::HasSubstr;
using NamedGroups = PlacingTest;

class GroupsSoftOrHard : public PlacingTest, public ::testing::WithParamInterface<bool> {
 protected:
  GroupsSoftOrHard() { options.allow_soft_placement = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(All, GroupsSoftOrHard, ::testing::Bool());

TEST_F(NamedGroups, AMemberGoesWhereItsGroupGoes) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "with_in", {in->output()}, "", {{"_class", groups({"in"})}});
  add("TestRelu", "free", {in->output()});
  run();
  EXPECT_EQ(at("with_in"), at("in"));
  EXPECT_NE(at("free"), at("in"));
  EXPECT_EQ(why("with_in").detail, "colocated with in");
}

TEST_F(NamedGroups, SeveralGroupsBecomeOne) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "one", {in->output()}, "", {{"_class", groups({"in"})}});
  add("TestRelu", "two", {in->output()}, "", {{"_class", groups({"in", "one"})}});
  run();
  EXPECT_EQ(at("one"), "CPU:0");
  EXPECT_EQ(at("two"), "CPU:0");
}

TEST_F(NamedGroups, AChainOfGroupsHangsTogether) {
  Node* in = add("TestInput", "in");
  Node* one = add("TestRelu", "one", {in->output()}, "", {{"_class", groups({"in"})}});
  Node* two = add("TestRelu", "two", {one->output()}, "", {{"_class", groups({"one"})}});
  add("TestRelu", "three", {two->output()}, "", {{"_class", groups({"two"})}});
  run();
  EXPECT_EQ(at("three"), "CPU:0");
}

TEST_F(NamedGroups, AGroupMayNameANodeThatComesLater) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "early", {in->output()}, "", {{"_class", groups({"late"})}});
  add("ReluCPU", "late", {in->output()});
  run();
  EXPECT_EQ(at("early"), "CPU:0");
}

TEST_F(NamedGroups, AGroupWithoutSuchANodeStillGroups) {
  Node* in = add("TestInput", "in");
  add("ReluCPU", "a", {in->output()}, "", {{"_class", groups({"ghost"})}});
  add("TestRelu", "b", {in->output()}, "", {{"_class", groups({"ghost"})}});
  run();
  EXPECT_EQ(at("b"), "CPU:0");
}

TEST_P(GroupsSoftOrHard, AGroupThatCannotRunTogetherIsRefusedOrSoftlyIgnored) {
  options.log = true;
  Node* in = add("TestInput", "in");
  add("ReluCPU", "one", {in->output()}, "", {{"_class", groups({"in"})}});
  add("ReluGPU", "two", {in->output()}, "", {{"_class", groups({"in", "one"})}});
  if (!GetParam()) {
    EXPECT_THAT(error().message(),
                HasSubstr("Cannot colocate nodes {{colocation_node two}} and {{colocation_node "
                          "in}} because no device type supports both of those nodes and the "
                          "other nodes colocated with them."));
    return;
  }
  run();
  EXPECT_EQ(type("in"), "CPU");
  EXPECT_EQ(type("one"), "CPU");
  EXPECT_EQ(type("two"), "GPU");
  EXPECT_THAT(placement->notes().at(0),
              HasSubstr("Ignoring request to colocate node 'two' with nodes in colocation group "
                        "'in'"));
}

TEST_F(NamedGroups, AGroupWorksWithReferences) {
  Node* in = add("TestInput", "in");
  Node* var1 = add("VariableCPU", "var1");
  Node* var2 = add("VariableCPU", "var2");
  add("TestAssign", "assign1", {var1->output(), in->output()}, "", {{"_class", groups({"var1"})}});
  add("TestAssign", "assign2", {var2->output(), in->output()}, "", {{"_class", groups({"var2"})}});
  run();
  for (const char* name : {"var1", "var2", "assign1", "assign2"}) EXPECT_EQ(at(name), at("in"));
}

TEST_P(GroupsSoftOrHard, AGroupAgainstAReferenceIsRefusedOrSoftlyIgnored) {
  Node* in = add("TestInput", "in");
  Node* var2 = add("VariableCPU", "var2");
  Node* var3 = add("VariableGPU", "var3");
  add("TestAssign", "assign2", {var2->output(), in->output()}, "", {{"_class", groups({"var2"})}});
  add("TestAssign", "assign3", {var3->output(), in->output()}, "", {{"_class", groups({"var2"})}});
  if (!GetParam()) {
    EXPECT_THAT(error().message(),
                HasSubstr("Cannot colocate nodes {{colocation_node assign3}} and {{colocation_node "
                          "var2}} because no device type supports both"));
    return;
  }
  run();
  EXPECT_EQ(type("assign2"), "CPU");
  EXPECT_EQ(type("assign3"), "GPU");
}

TEST_F(NamedGroups, AHundredVariablesInGroupsAndReferencesStayTogether) {
  Node* in = add("TestInput", "in");
  const auto var = [](int i) { return fmt::format("var_{}", i); };
  const auto assign = [](int i) { return fmt::format("assign_{}", i); };
  for (int i = 0; i < 100; ++i) {
    AttrList of_var, of_assign;
    if (i >= 10) of_var = {{"_class", groups({var(i % 6)})}};
    if (i >= 10) of_assign = {{"_class", groups({assign(i % 3)})}};
    Node* v = add("TestVariable", var(i), {}, "", of_var);
    add("TestAssign", assign(i), {v->output(), in->output()}, "", of_assign);
  }
  run();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(at(var(i)), at(assign(i)));
    if (i < 10) continue;
    EXPECT_EQ(at(var(i)), at(var(i % 6)));
    EXPECT_EQ(at(assign(i)), at(assign(i % 3)));
  }
}

TEST_P(GroupsSoftOrHard, MembersThatAskForDifferentIdsAreRefusedOrSoftlyMoved) {
  Node* in = add("TestInput", "in");
  add("ReluCPU", "a", {in->output()}, "/device:CPU:1");
  add("ReluCPU", "b", {in->output()}, "/device:CPU:2", {{"_class", groups({"a"})}});
  if (!GetParam()) {
    const Error e = error();
    EXPECT_EQ(e.message(),
              "Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge "
              "devices with incompatible ids: '/device:CPU:2' and '/device:CPU:1'\n"
              "\t [[{{node b}}]]");
    return;
  }
  run();
  EXPECT_EQ(at("a"), "CPU:0");
  EXPECT_EQ(at("b"), "CPU:0");
  EXPECT_EQ(why("b").reason, Reason::kSoft);
}

TEST_F(NamedGroups, SoftMembersThatAskForDifferentTypesGoToTheBestType) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "a", {in->output()}, "/device:CPU:0");
  add("TestRelu", "b", {in->output()}, "/device:GPU:0", {{"_class", groups({"a"})}});
  run();
  EXPECT_EQ(at("a"), "GPU:0");
  EXPECT_EQ(at("b"), "GPU:0");
}

TEST_F(NamedGroups, SoftColocationAgainstAPinnedVariableIsDropped) {
  Node* in = add("TestInput", "in");
  add("TestVariable", "var", {}, "/device:CPU:1");
  Node* other = add("TestVariable", "other", {}, "/device:CPU:3");
  add("TestAssign", "assign", {other->output(), in->output()}, "", {{"_class", groups({"var"})}});
  run();
  EXPECT_EQ(at("var"), "CPU:1");
  EXPECT_EQ(at("assign"), "CPU:3");
}

TEST_F(NamedGroups, SoftColocationAcrossJobsIsDropped) {
  devices = devices_named({"/job:a/replica:0/task:0/device:CPU:0",
                           "/job:b/replica:0/task:0/device:CPU:0"});
  Node* in = add("TestInput", "in");
  add("TestRelu", "a", {in->output()}, "/job:a");
  add("TestRelu", "b", {in->output()}, "/job:b", {{"_class", groups({"a"})}});
  run();
  EXPECT_EQ(full_at("a"), "/job:a/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(full_at("b"), "/job:b/replica:0/task:0/device:CPU:0");
}

TEST_F(NamedGroups, ADroppedColocationLeavesNoTraceOnTheOther) {
  Node* in = add("TestInput", "in");
  add("ReluCPU", "a", {in->output()}, "/device:CPU:1");
  add("ReluGPU", "b", {in->output()}, "/device:GPU:2", {{"_class", groups({"a"})}});
  run();
  EXPECT_EQ(at("a"), "CPU:1");
  EXPECT_EQ(at("b"), "GPU:2");
}

}  // namespace
}  // namespace emplace::placement_test
