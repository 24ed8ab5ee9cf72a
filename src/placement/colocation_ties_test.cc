#include <fmt/format.h>

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using ::testing::HasSubstr;
using References = PlacingTest;
using Resources = PlacingTest;

struct Pair {
  const char *var, *assign, *expected;  // expected type; empty: refused
};

class VariableAndAssign : public PlacingTest, public ::testing::WithParamInterface<Pair> {};

TEST_P(VariableAndAssign, ShareADeviceThatBothCanRunOn) {
  const Pair& p = GetParam();
  Node* in = add("TestInput", "in");
  for (int i = 0; i < 10; ++i) {
    Node* var = add(p.var, fmt::format("var_{}", i));
    add(p.assign, fmt::format("assign_{}", i), {var->output(), in->output()});
  }
  if (*p.expected == '\0') {
    const Error e = error();
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_THAT(e.message(), HasSubstr("no device type supports both of those nodes"));
    EXPECT_THAT(e.message(), HasSubstr("Nodes were connected by a reference or resource connection "
                                       "(requiring them to be on the same device)"));
    return;
  }
  run();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(type(fmt::format("var_{}", i)), p.expected);
    EXPECT_EQ(at(fmt::format("var_{}", i)), at(fmt::format("assign_{}", i)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    References, VariableAndAssign,
    ::testing::Values(
        Pair{"TestVariable", "TestAssign", "GPU"}, Pair{"TestVariable", "AssignCPU", "CPU"},
        Pair{"TestVariable", "AssignGPU", "GPU"}, Pair{"VariableCPU", "TestAssign", "CPU"},
        Pair{"VariableCPU", "AssignCPU", "CPU"}, Pair{"VariableCPU", "AssignGPU", ""},
        Pair{"VariableGPU", "TestAssign", "GPU"}, Pair{"VariableGPU", "AssignCPU", ""},
        Pair{"VariableGPU", "AssignGPU", "GPU"}));

INSTANTIATE_TEST_SUITE_P(
    Handles, VariableAndAssign,
    ::testing::Values(Pair{"Handle", "HandleAssign", "GPU"},
                      Pair{"Handle", "HandleAssignCPU", "CPU"},
                      Pair{"Handle", "HandleAssignGPU", "GPU"},
                      Pair{"HandleCPU", "HandleAssign", "CPU"},
                      Pair{"HandleCPU", "HandleAssignCPU", "CPU"},
                      Pair{"HandleCPU", "HandleAssignGPU", ""},
                      Pair{"HandleGPU", "HandleAssign", "GPU"},
                      Pair{"HandleGPU", "HandleAssignCPU", ""},
                      Pair{"HandleGPU", "HandleAssignGPU", "GPU"}));

class TwoHandlesApart : public PlacingTest,
                        public ::testing::WithParamInterface<std::tuple<bool, bool>> {};

TEST_P(TwoHandlesApart, AreRefusedHardOrSoftPinnedOrPlaced) {
  const auto [soft, placed] = GetParam();
  options.allow_soft_placement = soft;
  Node* a = add("Handle", "a", {}, placed ? "" : full("CPU:0"));
  Node* b = add("Handle", "b", {}, placed ? "" : full("GPU:0"));
  add("TwoHandles", "both", {a->output(), b->output()});
  if (placed) assigned = {{"a", full("CPU:0")}, {"b", full("GPU:0")}};
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            fmt::format("Cannot place the graph because a reference or resource edge connects "
                        "colocation groups with incompatible {} devices: {} vs {}. The edge src "
                        "node is name='b' (op='Handle'), and the dst node is name='both' "
                        "(op='TwoHandles').",
                        placed ? "assigned" : "resource", full("GPU:0"), full("CPU:0")));
  EXPECT_EQ(e.node(), "both");
  EXPECT_EQ(e.source(), "model.py:7");
}

INSTANTIATE_TEST_SUITE_P(All, TwoHandlesApart,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST_F(References, ARequestAgainstTheVariablesIsIgnoredEvenHard) {
  Node* in = add("TestDevice", "in", {}, "/job:a/task:0/device:GPU:0");
  Node* var = add("TestVariable", "var", {}, "/job:a/task:0/device:GPU:0");
  add("TestAssign", "assign", {var->output(), in->output()}, "/job:a/task:0/device:CPU:0");
  options.log = true;
  run_hard();
  EXPECT_EQ(at("var"), "GPU:0");
  EXPECT_EQ(at("assign"), "GPU:0");
  EXPECT_EQ(why("assign").detail,
            "colocated with var; the request for '/job:a/task:0/device:CPU:0' is ignored");
  ASSERT_EQ(placement->notes().size(), 1u);
  EXPECT_THAT(placement->notes()[0],
              HasSubstr("Ignoring device specification /job:a/task:0/device:CPU:0 for node "
                        "'assign' because the input edge from 'var' is a reference connection"));
}

TEST_F(References, AVaguerVariableTakesTheMoreSpecificDeviceOfItsWriter) {
  Node* in = add("TestCPUGPUOutput", "in", {}, "/job:a/task:0");
  Node* var = add("TestVariable", "var", {}, "/job:a/task:0");
  add("TestAssign", "assign", {var->output(), in->output()}, "/job:a/task:0/device:CPU:0");
  run_hard();
  EXPECT_EQ(at("var"), "CPU:0");
  EXPECT_EQ(at("assign"), "CPU:0");
}

TEST_F(References, AFreeVariableGoesToItsFirstPinnedWriterAndLaterPinsAreOverridden) {
  Node* in = add("TestDevice", "in", {}, "/job:a/task:0/device:GPU:0");
  Node* var = add("TestVariable", "var");
  add("TestAssign", "first", {var->output(), in->output()}, "/job:a/task:0/device:CPU:2");
  add("TestAssign", "second", {var->output(), in->output()}, "/device:CPU:5");
  run_hard();
  EXPECT_EQ(at("var"), "CPU:2");
  EXPECT_EQ(at("first"), "CPU:2");
  EXPECT_EQ(at("second"), "CPU:2");
}

TEST_F(References, ConstraintsThatCannotBeMetNameBothNodes) {
  Node* var = add("VariableGPU", "var");
  Node* in = add("TestInput", "in");
  add("AssignCPU", "assign", {var->output(), in->output()});
  const Error e = error();
  EXPECT_THAT(e.message(), HasSubstr("Cannot colocate nodes {{colocation_node var}} and "
                                     "{{colocation_node assign}} because no device type supports "
                                     "both of those nodes and the other nodes colocated with "
                                     "them."));
  EXPECT_THAT(e.message(), HasSubstr("\n\t [[{{node assign}}]]"));
  EXPECT_EQ(e.node(), "assign");
  EXPECT_EQ(e.op(), "AssignCPU");
}

TEST_F(References, SoftPlacementKeepsWhatKernelsForce) {
  Node* gpu = add("VariableGPU", "var_gpu");
  add("TestDeviceEnforce", "force_gpu", {gpu->output()}, "/device:CPU:0");
  Node* cpu = add("VariableCPU", "var_cpu");
  add("TestDeviceEnforce", "force_cpu", {cpu->output()}, "/device:GPU:0");
  run();
  EXPECT_EQ(type("var_gpu"), "GPU");
  EXPECT_EQ(at("force_gpu"), at("var_gpu"));
  EXPECT_EQ(type("var_cpu"), "CPU");
  EXPECT_EQ(at("force_cpu"), at("var_cpu"));
}

TEST_F(References, ReadingAReferenceAsAValueTiesNothing) {
  Node* var = add("VariableCPU", "var");
  add("TestRelu", "read", {var->output()});
  run();
  EXPECT_EQ(at("read"), "GPU:0");
}

TEST_F(Resources, IdentityKeepsTheTieAndIdentityNBreaksIt) {
  Node* handle = add("HandleCPU", "handle");
  Node* one = add("Identity", "one", {handle->output()});
  add("UseAnywhere", "tied", {one->output()});
  Node* many = add("IdentityN", "many", {handle->output()});
  add("UseAnywhere", "with_many", {many->output()});
  run();
  EXPECT_EQ(at("one"), "CPU:0");
  EXPECT_EQ(at("tied"), "CPU:0");
  EXPECT_EQ(at("many"), "GPU:0");
  EXPECT_EQ(at("with_many"), "GPU:0");
}

TEST_F(Resources, AnEarlierPlacedHandleHoldsWhatUsesIt) {
  Node* handle = add("Handle", "handle");
  add("UseGPU", "use", {handle->output()});
  assigned["handle"] = full("CPU:0");
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("{{colocation_node use}} was colocated with a group of nodes "
                                     "that required incompatible device '" + full("CPU:0") + "'"));
}

TEST_F(Resources, RequestsOnWhatPassesHandlesOnCanBeOverridden) {
  Node* a = add("_Arg", "a", {}, "", {{"T", DType::kResource}});
  Node* b = add("_Arg", "b", {}, "", {{"T", DType::kResource}});
  Node* id_a = add("Identity", "id_a", {a->output()}, "/device:GPU:0");
  Node* id_b = add("Identity", "id_b", {b->output()}, "/device:CPU:0");
  add("Identity", "id1", {id_a->output()}, "", {{"_class", groups({"id2"})}});
  add("Identity", "id2", {id_b->output()});
  run();
  for (const char* name : {"b", "id_a", "id_b", "id1", "id2"}) EXPECT_EQ(at(name), at("a")) << name;
}

class SoftOrHard : public PlacingTest, public ::testing::WithParamInterface<bool> {
 protected:
  SoftOrHard() { options.allow_soft_placement = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(All, SoftOrHard, ::testing::Bool());

TEST_P(SoftOrHard, ARequestOnAResourceMakerIsAsFirmAsAPlacement) {
  Node* a = add("_Arg", "a", {}, "/device:GPU:0", {{"T", DType::kResource}});
  Node* b = add("_Arg", "b", {}, "/device:CPU:0", {{"T", DType::kResource}});
  add("Identity", "id1", {a->output()}, "", {{"_class", groups({"id2"})}});
  add("Identity", "id2", {b->output()});
  if (!GetParam()) {
    EXPECT_THAT(error().message(),
                HasSubstr("Cannot colocate nodes {{colocation_node id2}} and {{colocation_node "
                          "id1}}: Cannot merge devices with incompatible types: '/device:CPU:0' "
                          "and '/device:GPU:0'"));
    return;
  }
  run();
  EXPECT_EQ(at("a"), "GPU:0");
  EXPECT_EQ(at("id1"), "GPU:0");
  EXPECT_EQ(at("b"), "CPU:0");
  EXPECT_EQ(at("id2"), "CPU:0");
}

TEST_P(SoftOrHard, EarlierPlacementsAreNotOverriddenByColocation) {
  Node* a = add("_Arg", "a", {}, "", {{"T", DType::kResource}});
  Node* b = add("_Arg", "b", {}, "", {{"T", DType::kResource}});
  Node* id_a = add("Identity", "id_a", {a->output()});
  Node* id_b = add("Identity", "id_b", {b->output()});
  add("Identity", "id1", {id_a->output()}, "", {{"_class", groups({"id2"})}});
  add("Identity", "id2", {id_b->output()});
  assigned = {{"id_a", full("GPU:0")}, {"id_b", full("CPU:0")}};
  if (!GetParam()) {
    EXPECT_THAT(error().message(),
                HasSubstr("Cannot merge devices with incompatible types: '" + full("CPU:0") +
                          "' and '" + full("GPU:0") + "'"));
    return;
  }
  run();
  for (const char* name : {"a", "id_a", "id1"}) EXPECT_EQ(at(name), "GPU:0") << name;
  for (const char* name : {"b", "id_b", "id2"}) EXPECT_EQ(at(name), "CPU:0") << name;
}

}  // namespace
}  // namespace emplace::placement_test
