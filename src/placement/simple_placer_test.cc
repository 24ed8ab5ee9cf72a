#include "placement/simple_placer.h"

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using PlacerPriorities = PlacingTest;
using PlacerHeuristics = PlacingTest;
using PlacerSpecs = PlacingTest;
using Placer = PlacingTest;

// ---- Which type is liked best.

TEST_F(PlacerPriorities, PrefersGpuWhereThereIsAKernel) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "n1", {in->output(0)});
  add("TestRelu", "n2", {in->output(1)});
  run();
  EXPECT_EQ(type("in"), "CPU");
  EXPECT_EQ(at("n1"), "GPU:0");
  EXPECT_EQ(at("n2"), "GPU:0");
}

TEST_F(PlacerPriorities, KernelPriorityBeatsDeviceType) {
  Node* in = add("TestInput", "in");
  add("TestPrioritised", "n1", {in->output(0)});
  add("TestPrioritised", "n2", {in->output(1)});
  run();
  EXPECT_EQ(at("n1"), "CPU:0");
  EXPECT_EQ(at("n2"), "CPU:0");
}

TEST_F(PlacerPriorities, TakesXlaOnlyWhenItIsNamed) {
  Node* in = add("TestInput", "in");
  add("TestXlaOp", "n1", {in->output(0)});
  add("TestXlaOp", "n2", {in->output(1)});
  add("TestXlaOp", "n3", {in->output(1)}, "/device:XLA_CPU:0");
  assigned["n2"] = full("XLA_CPU:0");
  run();
  EXPECT_EQ(type("n1"), "CPU");
  EXPECT_EQ(type("n2"), "XLA_CPU");
  EXPECT_EQ(type("n3"), "XLA_CPU");
}

TEST_F(PlacerPriorities, AnInputOnAGpuDoesNotPullAPrioritisedKernel) {
  Node* in = add("TestGPUOutput", "in");
  add("TestPrioritised", "n1", {in->output()});
  run();
  EXPECT_EQ(type("in"), "GPU");
  EXPECT_EQ(type("n1"), "CPU");
}

TEST_F(PlacerPriorities, ColocationWithAGpuOnlyNodeBeatsKernelPriority) {
  Node* in = add("TestGPUOutput", "in");
  add("TestPrioritised", "n1", {in->output()}, "", {{"_class", groups({"in"})}});
  add("TestPrioritised", "n2", {in->output()});
  run();
  EXPECT_EQ(type("in"), "GPU");
  EXPECT_EQ(type("n1"), "GPU");
  EXPECT_EQ(type("n2"), "CPU");
}

struct ResourcePair {
  const char *make, *use, *expected;
};

class ResourcePriorities : public PlacingTest,
                           public ::testing::WithParamInterface<ResourcePair> {};

TEST_P(ResourcePriorities, MakerAndUserShareTheDeviceThatTheirPrioritiesGive) {
  Node* made = add(GetParam().make, "made");
  add(GetParam().use, "use", {made->output()});
  run();
  EXPECT_EQ(type("made"), GetParam().expected);
  EXPECT_EQ(at("made"), at("use"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ResourcePriorities,
    ::testing::Values(ResourcePair{"MakePreferCPU", "UseAnywhere", "CPU"},
                      ResourcePair{"MakePreferGPU", "UseAnywhere", "GPU"},
                      ResourcePair{"MakeAnywhere", "UsePreferCPU", "CPU"},
                      ResourcePair{"MakeAnywhere", "UsePreferGPU", "GPU"},
                      ResourcePair{"MakePreferCPU", "UseGPU", "GPU"},
                      ResourcePair{"MakeCPU", "UsePreferGPU", "CPU"},
                      ResourcePair{"MakePreferCPU", "UsePreferCPU", "CPU"},
                      ResourcePair{"MakePreferGPU", "UsePreferGPU", "GPU"},
                      // They disagree: the order of the types decides.
                      ResourcePair{"MakePreferCPU", "UsePreferGPU", "GPU"},
                      ResourcePair{"MakePreferGPU", "UsePreferCPU", "GPU"}),
    [](const auto& info) {
      return std::string(info.param.make) + "Then" + info.param.use + "Gives" + info.param.expected;
    });

TEST_F(PlacerPriorities, NamesSortAsTextSoGpu10ComesBeforeGpu2) {
  devices = devices_named({full("CPU:0"), full("GPU:2"), full("GPU:10")});
  add("TestCPUGPUOutput", "in");
  run();
  EXPECT_EQ(at("in"), "GPU:10");
}

TEST_F(PlacerPriorities, ARemoteGpuComesBeforeTheLocalCpu) {
  devices = {device_info("/job:a/replica:0/task:0/device:CPU:0"),
             device_info("/job:b/replica:0/task:0/device:GPU:0", "", false)};
  add("TestCPUGPUOutput", "in");
  run();
  EXPECT_EQ(full_at("in"), "/job:b/replica:0/task:0/device:GPU:0");
}

TEST_F(PlacerPriorities, OfAlikeDevicesTheLocalOneIsTaken) {
  devices = {device_info("/job:a/replica:0/task:0/device:GPU:0", "", false),
             device_info("/job:b/replica:0/task:0/device:GPU:0")};
  add("TestCPUGPUOutput", "in");
  run();
  EXPECT_EQ(full_at("in"), "/job:b/replica:0/task:0/device:GPU:0");
}

TEST_F(PlacerPriorities, TheDefaultLocalDeviceComesBeforeAllOthers) {
  options.default_local_device = full("CPU:4");
  Node* in = add("TestCPUGPUOutput", "in");
  add("ReluGPU", "gpu_only", {in->output()});
  add("TestRelu", "free", {in->output()});
  add("TestRelu", "pinned", {in->output()}, "/device:GPU:3");
  run();
  EXPECT_EQ(at("free"), "CPU:4");
  EXPECT_EQ(at("gpu_only"), "GPU:0");
  EXPECT_EQ(at("pinned"), "GPU:3");
}

// ---- Heuristics.

TEST_F(PlacerHeuristics, KernelsRestrictTypesAndReferencesColocate) {
  Node* in = add("TestInput", "in");
  Node* cpu = add("VariableCPU", "var_cpu");
  add("AssignCPU", "assign_cpu", {cpu->output(), in->output()});
  Node* gpu = add("VariableGPU", "var_gpu");
  add("AssignGPU", "assign_gpu", {gpu->output(), in->output()});
  run();
  EXPECT_EQ(type("var_cpu"), "CPU");
  EXPECT_EQ(at("assign_cpu"), at("var_cpu"));
  EXPECT_EQ(type("var_gpu"), "GPU");
  EXPECT_EQ(at("assign_gpu"), at("var_gpu"));
}

TEST_F(PlacerHeuristics, MetadataOpsFollowTheirInput) {
  Node* var = add("VariableCPU", "var");
  add("Shape", "shape", {var->output()});
  add("Size", "size", {var->output()});
  add("Rank", "rank", {var->output()});
  run();
  EXPECT_EQ(at("shape"), "CPU:0");
  EXPECT_EQ(at("size"), "CPU:0");
  EXPECT_EQ(at("rank"), "CPU:0");
  EXPECT_EQ(why("shape").reason, Reason::kFollowsInput);
}

TEST_F(PlacerHeuristics, AMetadataOpDoesNotFollowASourceWhichHasNoPlaceYet) {
  Node* in = add("Placeholder", "in", {}, "/device:CPU:3", {{"dtype", DType::kFloat}});
  add("Rank", "rank", {in->output()});
  run();
  EXPECT_EQ(at("in"), "CPU:3");
  EXPECT_EQ(at("rank"), "GPU:0");
}

TEST_F(PlacerHeuristics, ASourceFollowsItsOnlyConsumer) {
  Node* var = add("VariableCPU", "var");
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestAssign", "assign", {var->output(), in->output()});
  run();
  EXPECT_EQ(at("in"), at("var"));
  EXPECT_EQ(at("assign"), at("in"));
  EXPECT_EQ(why("in").detail, "follows its only consumer assign");
}

TEST_F(PlacerHeuristics, ASourceWithoutKernelThereDoesNotFollow) {
  Node* var = add("VariableCPU", "var");
  Node* in = add("TestGPUOutput", "in");
  add("TestAssign", "assign", {var->output(), in->output()});
  run();
  EXPECT_EQ(type("in"), "GPU");
  EXPECT_EQ(type("var"), "CPU");
  EXPECT_EQ(at("assign"), at("var"));
}

TEST_F(PlacerHeuristics, APinnedSourceDoesNotFollow) {
  Node* var = add("VariableCPU", "var");
  Node* in = add("TestCPUGPUOutput", "in", {}, "/device:CPU:1");
  add("TestAssign", "assign", {var->output(), in->output()});
  run();
  EXPECT_EQ(at("in"), "CPU:1");
  EXPECT_EQ(at("var"), "CPU:0");
  EXPECT_EQ(at("assign"), "CPU:0");
}

TEST_F(PlacerHeuristics, ASourceFollowsSeveralConsumersOnOneDevice) {
  Node* var1 = add("VariableCPU", "var1");
  Node* var2 = add("VariableCPU", "var2");
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestAssign", "assign1", {var1->output(), in->output()});
  add("TestAssign", "assign2", {var2->output(), in->output()});
  run();
  EXPECT_EQ(at("in"), "CPU:0");
  EXPECT_EQ(why("in").detail, "follows its 2 consumers, assign1 among them");
}

TEST_F(PlacerHeuristics, ASourceDoesNotFollowConsumersThatAreApart) {
  Node* var1 = add("VariableCPU", "var1");
  Node* var2 = add("VariableCPU", "var2");
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestAssign", "assign1", {var1->output(), in->output()});
  add("TestAssign", "assign2", {var2->output(), in->output()});
  assigned = {{"var1", full("CPU:1")}, {"var2", full("CPU:2")}};
  run();
  EXPECT_EQ(at("assign1"), "CPU:1");
  EXPECT_EQ(at("assign2"), "CPU:2");
  EXPECT_EQ(at("in"), "GPU:0");
}

TEST_F(PlacerHeuristics, ControlEdgesCountAsConsumers) {
  Node* in = add("TestCPUGPUOutput", "in");
  add("NoOp", "after", {}, "/device:CPU:5", {}, {in});
  run();
  EXPECT_EQ(at("in"), "CPU:5");
}

TEST_F(PlacerHeuristics, AnIdentityBetweenAlikeNodesStaysWithItsInput) {
  Node* in = add("TestCPUGPUOutput", "in");
  Node* a = add("TestRelu", "a", {in->output()}, "/device:CPU:2");
  Node* id = add("Identity", "id", {a->output()});
  add("TestRelu", "b", {id->output()}, "/device:CPU:2");
  run();
  EXPECT_EQ(at("id"), "CPU:2");
  EXPECT_EQ(why("id").reason, Reason::kFollowsInput);
}

TEST_F(PlacerHeuristics, AnUnreadIdentityFollowsAnInputThatAsksForNothingOnly) {
  Node* in = add("TestInput", "in");
  add("Identity", "free", {in->output()});
  Node* pinned = add("TestRelu", "pinned", {in->output()}, "/device:CPU:2");
  add("Identity", "stays", {pinned->output()});
  run();
  EXPECT_EQ(at("free"), "CPU:0");
  EXPECT_EQ(at("stays"), "GPU:0");
}

TEST_F(PlacerHeuristics, AnIdentityWithTwoReadersGoesToTheDefaultDevice) {
  Node* in = add("TestCPUGPUOutput", "in");
  Node* a = add("TestRelu", "a", {in->output()}, "/device:CPU:2");
  Node* id = add("Identity", "id", {a->output()});
  add("TestRelu", "b", {id->output()}, "/device:CPU:2");
  add("TestRelu", "c", {id->output()}, "/device:CPU:2");
  run();
  EXPECT_EQ(at("id"), "GPU:0");
}

// ---- What the user asks for.

TEST_F(PlacerSpecs, APartialNameLimitsTheTaskOnly) {
  add("TestInput", "in", {}, "/job:a");
  add("TestVariable", "var", {}, "/job:a");
  run();
  EXPECT_EQ(type("in"), "CPU");
  EXPECT_EQ(at("var"), "GPU:0");
}

TEST_F(PlacerSpecs, AnEarlierPlacementStays) {
  add("TestInput", "in");
  assigned["in"] = full("CPU:7");
  run();
  EXPECT_EQ(at("in"), "CPU:7");
  EXPECT_EQ(why("in").detail, "already placed");
}

TEST_F(PlacerSpecs, SoftPlacementMovesCpuOnlyOpsAndLeavesTheRest) {
  add("TestInput", "in", {}, "/device:GPU:0");
  add("TestVariable", "var", {}, "/device:GPU:0");
  run();
  EXPECT_EQ(at("in"), "CPU:0");
  EXPECT_EQ(at("var"), "GPU:0");
}

TEST_F(PlacerSpecs, SoftPlacementMovesAResourceWhoseUserCannotRunThere) {
  Node* made = add("MakePreferCPU", "made", {}, "/device:CPU:0");
  add("UseGPU", "use", {made->output()});
  run();
  EXPECT_EQ(at("made"), "GPU:0");
  EXPECT_EQ(at("use"), "GPU:0");
  ASSERT_EQ(placement->notes().size(), 1u);
  EXPECT_THAT(placement->notes()[0], ::testing::HasSubstr("Resources had to leave"));
}

TEST_F(PlacerSpecs, ATypeWithoutIdTakesItsFirstDevice) {
  add("TestVariable", "var", {}, "/device:CPU:*");
  run_hard();
  EXPECT_EQ(at("var"), "CPU:0");
}

TEST_F(PlacerSpecs, TheLastOfRepeatedPartsWins) {
  add("TestVariable", "var", {}, "/device:CPU:1/device:CPU:02");
  run_hard();
  EXPECT_EQ(at("var"), "CPU:2");
}

// ---- The function itself.

TEST_F(Placer, AsksForKernelsOnceAnOpAndDtype) {
  Node* in = add("TestInput", "in");
  for (int i = 0; i < 100; ++i) add("TestRelu", "n" + std::to_string(i), {in->output()});
  for (int i = 0; i < 100; ++i) {
    const DType t = i % 2 ? DType::kFloat : DType::kInt32;
    add("Placeholder", "p" + std::to_string(i), {}, "", {{"dtype", t}});
  }
  run();
  EXPECT_EQ(kernels.questions(), 4);
}

TEST_F(Placer, EdgesToNodesOutsideTheListDoNotCount) {
  Node* var = add("VariableCPU", "var");
  Node* in = add("TestCPUGPUOutput", "in");
  Node* assign = add("TestAssign", "assign", {var->output(), in->output()});
  const std::vector<Node*> some = {in, assign};
  const Placed placed(some, devices, kernels, options);
  EXPECT_EQ(placed.info(0).parsed.local_name(), "GPU:0");
  EXPECT_EQ(placed.info(1).parsed.local_name(), "GPU:0");
}

TEST_F(Placer, NothingToPlaceIsFine) {
  EXPECT_EQ(run().size(), 0u);
  EXPECT_EQ(placement->table(), "node  op  device  reason\n");
}

TEST_F(Placer, DeepChainsAreNoProblem) {
  Node* last = add("TestInput", "in");
  for (int i = 0; i < 20000; ++i) last = add("TestRelu", "n" + std::to_string(i), {last->output()});
  run();
  EXPECT_EQ(at("n19999"), "GPU:0");
}

TEST_F(Placer, AListOfStringsKeepsItsReadersOnTheCpu) {
  Node* strings = add("MakeList", "strings", {}, "", {{"element_dtype", DType::kString}});
  Node* floats = add("MakeList", "floats", {}, "", {{"element_dtype", DType::kFloat}});
  Node* pass = add("PassList", "pass", {strings->output()});
  add("PassList", "pass_on", {pass->output()});
  add("PassList", "free", {floats->output()});
  run();
  EXPECT_EQ(at("pass"), "CPU:0");
  EXPECT_EQ(at("pass_on"), "CPU:0");
  EXPECT_EQ(at("free"), "GPU:0");
}

TEST_F(Placer, TakesADevicesPriorityFromItsType) {
  EXPECT_EQ(device_type_priority("GPU"), 210);
  EXPECT_EQ(device_type_priority("CPU"), 60);
  EXPECT_EQ(device_type_priority("FPGA"), 50);
  EXPECT_THROW(device_info("/device:GPU:0"), Error);
}

}  // namespace
}  // namespace emplace::placement_test
