#include "placement/why.h"

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

class Explaining : public PlacingTest {
 protected:
  Explaining() { devices = devices_named({full("CPU:0"), full("GPU:0"), full("GPU:1")}); }
  // Why the node is not on that device.
  std::string not_on(std::string_view node, std::string_view local) {
    for (const Rejected& r : why(node).rejected) {
      if (r.device == full(local)) return r.why;
    }
    return "not rejected";
  }
};

TEST_F(Explaining, ADefault) {
  add("TestCPUGPUOutput", "free");
  add("TestInput", "cpu_only");
  Node* in = graph.find("cpu_only");
  add("TestPrioritised", "prioritised", {in->output()});
  run();
  EXPECT_EQ(why("free").reason, Reason::kDefault);
  EXPECT_EQ(why("free").detail, "default device: best type GPU");
  EXPECT_EQ(not_on("free", "CPU:0"), "GPU comes before CPU");
  EXPECT_EQ(not_on("free", "GPU:1"), "comes after GPU:0");
  EXPECT_EQ(not_on("free", "GPU:0"), "not rejected");
  EXPECT_EQ(why("cpu_only").detail, "default device: only CPU has a kernel");
  EXPECT_EQ(not_on("cpu_only", "GPU:0"), "no GPU kernel");
  EXPECT_EQ(why("prioritised").detail, "default device: the CPU kernel has the highest priority");
  EXPECT_EQ(not_on("prioritised", "GPU:0"), "the CPU kernel has a higher priority");
}

TEST_F(Explaining, ADtypeWithoutKernel) {
  add("Variable", "v", {}, "", {{"dtype", DType::kInt32}, {"shape", Shape{}}});
  run();
  EXPECT_EQ(why("v").detail, "default device: only CPU has a kernel for int32");
  EXPECT_EQ(not_on("v", "GPU:1"), "no GPU kernel for int32");
}

TEST_F(Explaining, APin) {
  add("TestCPUGPUOutput", "pinned", {}, "/device:GPU:1");
  run();
  EXPECT_EQ(why("pinned").reason, Reason::kPinned);
  EXPECT_EQ(why("pinned").detail, "pinned by the user to '/device:GPU:1'");
  EXPECT_EQ(not_on("pinned", "GPU:0"), "not '/device:GPU:1'");
}

TEST_F(Explaining, AnEarlierPlacement) {
  add("TestCPUGPUOutput", "old");
  assigned["old"] = full("CPU:0");
  run();
  EXPECT_EQ(why("old").reason, Reason::kAlreadyPlaced);
  EXPECT_EQ(not_on("old", "GPU:0"), "already placed");
}

TEST_F(Explaining, AColocation) {
  Node* in = add("TestInput", "in");
  Node* var = add("TestVariable", "var", {}, "/device:GPU:1");
  add("TestAssign", "assign", {var->output(), in->output()});
  add("TestRelu", "with_in", {in->output()}, "", {{"_class", groups({"in"})}});
  run();
  EXPECT_EQ(why("assign").reason, Reason::kColocated);
  EXPECT_EQ(why("assign").detail, "colocated with var, which is pinned to '/device:GPU:1'");
  EXPECT_EQ(not_on("assign", "GPU:0"), "its group asks for '/device:GPU:1'");
  EXPECT_EQ(why("with_in").detail, "colocated with in");
  EXPECT_EQ(not_on("with_in", "GPU:0"), "colocated with in: no GPU kernel");
}

TEST_F(Explaining, AColocationWithSomethingPlacedBefore) {
  Node* in = add("TestInput", "in");
  Node* var = add("TestVariable", "var");
  add("TestAssign", "assign", {var->output(), in->output()});
  assigned["var"] = full("GPU:1");
  run();
  EXPECT_EQ(why("assign").detail, "colocated with var, which was placed before");
}

TEST_F(Explaining, ThoseThatFollow) {
  Node* var = add("VariableCPU", "var");
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestAssign", "assign", {var->output(), in->output()});
  add("Shape", "shape", {var->output()});
  run();
  EXPECT_EQ(why("in").reason, Reason::kFollowsConsumer);
  EXPECT_EQ(not_on("in", "GPU:0"), "away from assign");
  EXPECT_EQ(why("shape").detail, "follows its input var (metadata op)");
  EXPECT_EQ(not_on("shape", "GPU:0"), "away from var");
}

TEST_F(Explaining, SoftPlacement) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "gone", {in->output()}, "/device:GPU:7");
  add("ReluCPU", "no_kernel", {in->output()}, "/device:GPU:1");
  Node* var = add("VariableCPU", "var");
  add("Identity", "with_var", {var->output()}, "/device:GPU:1", {{"_class", groups({"var"})}});
  add("TestRelu", "a", {in->output()}, "/device:GPU:0");
  add("TestRelu", "b", {in->output()}, "/device:GPU:1", {{"_class", groups({"a"})}});
  run();
  EXPECT_EQ(why("gone").detail, "soft placement: there is no '/device:GPU:7'");
  EXPECT_EQ(why("no_kernel").detail, "soft placement: no GPU kernel");
  EXPECT_EQ(why("with_var").detail, "soft placement: colocated with var, no GPU kernel");
  EXPECT_EQ(at("b"), "GPU:0");
  EXPECT_EQ(why("b").detail, "soft placement: colocated with a, which asks for '/device:GPU:0'");
}

TEST_F(Explaining, ALargeGroupInLinearTime) {
  Node* in = add("TestInput", "in");
  Node* var = add("TestVariable", "var", {}, "/device:GPU:1");
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    add("TestAssign", "assign" + std::to_string(i), {var->output(), in->output()});
  }
  run();
  const std::vector<PlacedNode> all = placement->explain();  // 4e8 steps if it were quadratic
  EXPECT_EQ(all.back().detail, "colocated with var, which is pinned to '/device:GPU:1'");
}

TEST_F(Explaining, EveryDeviceIsEitherChosenOrRejectedWithAReason) {
  Node* in = add("TestInput", "in", {}, "/device:GPU:1");
  add("TestRelu", "n", {in->output()});
  run();
  for (const PlacedNode& p : placement->explain()) {
    EXPECT_EQ(p.rejected.size() + 1, devices.size());
    for (const Rejected& r : p.rejected) EXPECT_NE(r.why, "") << p.node->name() << r.device;
  }
}

}  // namespace
}  // namespace emplace::placement_test
