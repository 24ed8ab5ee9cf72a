#include "placement/place_error.h"

#include <fmt/format.h>

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using PlacingFails = PlacingTest;
using SoftPlacing = PlacingTest;

TEST_F(PlacingFails, WithoutDevices) {
  add("TestInput", "in");
  devices.clear();
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kFailedPrecondition);
  EXPECT_EQ(e.message(), "No devices are registered");
}

TEST_F(PlacingFails, WhenTheGroupNeedsAnotherTaskAndListsWhoRunsWhere) {
  Node* in = add("TestInput", "in");
  Node* var = add("VariableGPU", "var");
  add("TestAssign", "assign", {var->output(), in->output()}, "/job:b/task:1");
  devices = devices_named({"/job:b/replica:0/task:0/device:GPU:0",
                           "/job:b/replica:0/task:1/device:CPU:0"});
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            "Cannot assign a device for operation var: Could not satisfy explicit device "
            "specification '' because the node {{colocation_node var}} was colocated with a group "
            "of nodes that required incompatible device '/job:b/task:1'. All available devices "
            "[/job:b/replica:0/task:0/device:GPU:0, /job:b/replica:0/task:1/device:CPU:0]. \n"
            "Colocation Debug Info:\n"
            "Colocation group had the following types and supported devices: \n"
            "Root Member(assigned_device_name_index_=-1 requested_device_name_='/job:b/task:1' "
            "assigned_device_name_='' resource_device_name_='' supported_device_types_=[GPU] "
            "possible_devices_=[]\n"
            "VariableGPU: GPU \n"
            "TestAssign: GPU CPU \n"
            "\n"
            "Colocation members, user-requested devices, and framework assigned devices, if any:\n"
            "  var (VariableGPU) \n"
            "  assign (TestAssign) /job:b/task:1\n"
            "\n\t [[{{node var}}]]");
  EXPECT_EQ(e.node(), "var");
  EXPECT_EQ(e.op(), "VariableGPU");
  EXPECT_EQ(e.source(), "model.py:7");
}

TEST_F(PlacingFails, WhenNoDeviceMatchesInTheWordsOfTheFirstVersions) {
  add("TestVariable", "var", {}, "/job:foo/replica:17");
  const Error e = hard_error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            "Cannot assign a device to node 'var': Could not satisfy explicit device specification "
            "'/job:foo/replica:17'\n"
            "\t [[Node: var = TestVariable[_device=\"/job:foo/replica:17\"]()]]");
  EXPECT_EQ(e.device(), "/job:foo/replica:17");
}

TEST_F(PlacingFails, WhenTheMergedRequestMatchesNoDevice) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "a", {in->output()}, "/job:a");
  add("TestRelu", "b", {in->output()}, "/task:9", {{"_class", groups({"a"})}});
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("required incompatible device '/job:a/task:9'"));
}

TEST_F(PlacingFails, WhenAnEarlierDeviceIsGone) {
  add("TestInput", "in");
  assigned["in"] = "/job:foo";
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInternal);
  EXPECT_THAT(e.message(), StartsWith("Assigned device '/job:foo' does not match any device"));
}

TEST_F(PlacingFails, WhenAnEarlierDeviceIsNotOneDevice) {
  add("TestInput", "in");
  assigned["in"] = "/job:a";
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInternal);
  EXPECT_THAT(e.message(), StartsWith("Assigned device '/job:a' does not match any device"));
}

TEST_F(PlacingFails, WhenAnEarlierDeviceIsMalformed) {
  add("TestInput", "in");
  assigned["in"] = "/foo:bar";
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInternal);
  EXPECT_EQ(e.message(), "Malformed assigned device '/foo:bar'\n\t [[{{node in}}]]");
}

TEST_F(PlacingFails, WhenAnEarlierDeviceHasNoKernel) {
  add("TestInput", "in");
  assigned["in"] = full("GPU:0");
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInternal);
  EXPECT_THAT(e.message(), HasSubstr("Assigned device '" + full("GPU:0") +
                                     "' does not have registered OpKernel support for TestInput"));
}

TEST_F(PlacingFails, WhenDeviceIndicesDoNotFit) {
  Node* in = add("TestInput", "in");
  const std::vector<Node*> nodes = {in};
  EXPECT_THROW(Placed(nodes, devices, kernels, options, {1, 2}), Error);
  EXPECT_THROW(Placed(nodes, devices, kernels, options, {99}), Error);
}

TEST_F(PlacingFails, WhenNobodyHasAKernel) {
  add("VariableNoKernels", "var");
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            "No OpKernel was registered to support Op 'VariableNoKernels' used by {{node var}} "
            "with these attrs: []\nRegistered devices: [CPU, GPU, XLA_CPU]\nRegistered kernels:\n"
            "  <no registered kernels>\n\n\t [[var]]");
}

TEST_F(PlacingFails, WhenKernelsAreForOtherAttributes) {
  add("Variable", "v", {}, "", {{"dtype", DType::kInt32}, {"shape", Shape{}}});
  devices = devices_named({full("GPU:0")});
  const Error e = error();
  EXPECT_THAT(e.message(), HasSubstr("used by {{node v}} with these attrs: [dtype=DT_INT32, "
                                     "shape=[]]\nRegistered devices: [GPU]\nRegistered kernels:\n"
                                     "  device='CPU'\n  device='GPU'; dtype in [DT_FLOAT, "
                                     "DT_DOUBLE, DT_INT64]\n"));
}

TEST_F(PlacingFails, AndDoesNotTrustAnotherTaskWithAttributesThatItsOwnKernelsRefuse) {
  add("Variable", "v", {}, "/job:b/replica:0/task:1/device:GPU:0",
      {{"dtype", DType::kInt32}, {"shape", Shape{}}});
  devices = {device_info("/job:b/replica:0/task:1/device:GPU:0", "", false),
             device_info("/job:b/replica:0/task:0/device:GPU:0")};
  EXPECT_THAT(hard_error().message(), HasSubstr("No OpKernel was registered"));
}

TEST_F(PlacingFails, WhenTheLocalTaskHasNoKernel) {
  add("VariableNoKernels", "var", {}, "/job:b/replica:0/task:0/device:GPU:0");
  devices = devices_named({"/job:b/replica:0/task:0/device:GPU:0",
                           "/job:b/replica:0/task:0/device:CPU:0"});
  options.default_local_device = "/job:b/replica:0/task:0/device:CPU:0";
  EXPECT_THAT(hard_error().message(), HasSubstr("No OpKernel was registered to support Op "
                                                "'VariableNoKernels' used by {{node var}}"));
}

TEST_F(PlacingFails, ButTrustsAnotherTaskToHaveTheKernel) {
  add("VariableNoKernels", "var", {}, "/job:b/replica:0/task:1/device:GPU:0");
  add("VariableNoKernels", "any", {}, "/job:b/replica:0/task:1");
  devices = {device_info("/job:b/replica:0/task:1/device:GPU:0", "", false),
             device_info("/job:b/replica:0/task:0/device:CPU:0")};
  run_hard();
  EXPECT_EQ(full_at("var"), "/job:b/replica:0/task:1/device:GPU:0");
  EXPECT_EQ(full_at("any"), "/job:b/replica:0/task:1/device:GPU:0");
}

TEST_F(PlacingFails, WhenNoDeviceOfTheKernelsTypeIsThere) {
  add("VariableGPU", "var");
  devices = devices_named({full("CPU:0")});
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("No OpKernel was registered to support Op 'VariableGPU' used "
                                     "by {{node var}}"));
  EXPECT_THAT(e.message(), HasSubstr("  device='GPU'\n"));
}

TEST_F(PlacingFails, WhenARequestIsMalformed) {
  add("TestInput", "in", {}, "/foo:bar");
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(),
            "Malformed device specification '/foo:bar' in node: in = "
            "TestInput[_device=\"/foo:bar\"]()\n\t [[{{node in}}]]");
}

TEST_F(PlacingFails, WhenTheGpuDoesNotExistAndPlacementIsHard) {
  add("TestDevice", "in", {}, "/device:GPU:11");
  EXPECT_EQ(hard_error().message(),
            "Cannot assign a device to node 'in': Could not satisfy explicit device specification "
            "'/device:GPU:11'\n\t [[Node: in = TestDevice[_device=\"/device:GPU:11\"]()]]");
}

TEST_F(PlacingFails, WhenAGpuIsAskedForWhereThereIsNone) {
  devices = devices_named({full("CPU:0")});
  add("TestCPUGPUOutput", "in", {}, "/device:GPU:0");
  EXPECT_EQ(hard_error().message(),
            "Cannot assign a device to node 'in': Could not satisfy explicit device specification "
            "'/device:GPU:0'\n\t [[Node: in = TestCPUGPUOutput[_device=\"/device:GPU:0\"]()]]");
}

TEST_F(PlacingFails, WhenALowerCaseTypeIsAnotherType) {
  add("TestDevice", "in", {}, "/device:gpu:0");
  EXPECT_THAT(hard_error().message(),
              HasSubstr("Could not satisfy explicit device specification '/device:gpu:0'"));
}

TEST_F(PlacingFails, WhenTheDeviceHasNoKernelAndNamesTheKernelsThereAre) {
  add("VariableGPU", "var", {}, "/device:CPU:0");
  EXPECT_EQ(hard_error().message(),
            "Cannot assign a device to node 'var': Could not satisfy explicit device specification "
            "'/device:CPU:0' because no supported kernel for CPU devices is available.\n"
            "Registered kernels:\n  device='GPU'\n"
            "\t [[Node: var = VariableGPU[_device=\"/device:CPU:0\"]()]]");
}

TEST_F(PlacingFails, WhenTheTaskHasNoKernelForAnUntypedRequest) {
  add("VariableGPU", "var", {}, "/job:b/task:1");
  devices = devices_named({"/job:b/replica:0/task:0/device:GPU:0",
                           "/job:b/replica:0/task:1/device:CPU:0"});
  const Error e = hard_error();
  EXPECT_THAT(e.message(), StartsWith("Cannot assign a device for operation var: Could not satisfy "
                                      "explicit device specification '/job:b/task:1\nColocation "
                                      "Debug Info:\n"));
  EXPECT_THAT(e.message(), EndsWith("\n\t [[{{node var}}]]"));
}

TEST_F(PlacingFails, AtTheNodeThatTheLogWouldNameFirst) {
  Node* a = add("TestCPUGPUOutput", "a", {}, "/device:GPU:11");
  Node* b = add("TestCPUGPUOutput", "b", {}, "/device:GPU:11");
  add("TestAdd", "c", {a->output(), b->output()}, "/device:GPU:11");
  EXPECT_EQ(hard_error().node(), "b");
}

TEST_F(PlacingFails, AtTheFirstLoggedNodeForMalformedNamesToo) {
  Node* a = add("TestCPUGPUOutput", "a", {}, "/x");
  Node* b = add("TestCPUGPUOutput", "b", {}, "/y");
  add("TestAdd", "c", {a->output(), b->output()});
  EXPECT_EQ(hard_error().node(), "b");
}

// ---- Soft placement.

TEST_F(SoftPlacing, TakesAnotherDeviceWhenTheGpuDoesNotExist) {
  add("TestDevice", "in", {}, "/device:GPU:11");
  run();
  EXPECT_EQ(at("in"), "GPU:0");
  EXPECT_EQ(why("in").detail, "soft placement: there is no '/device:GPU:11'");
}

TEST_F(SoftPlacing, TakesAnotherTypeWhenTheKernelIsMissing) {
  add("TestInput", "in", {}, "/device:GPU:0");
  run();
  EXPECT_EQ(at("in"), "CPU:0");
  EXPECT_EQ(why("in").detail, "soft placement: no GPU kernel");
}

TEST_F(SoftPlacing, NeverLeavesTheTask) {
  add("TestInput", "in", {}, "/job:a/task:7/device:CPU:0");
  EXPECT_THAT(error().message(), HasSubstr("Could not satisfy explicit device specification "
                                           "'/job:a/task:7/device:CPU:0'"));
}

}  // namespace
}  // namespace emplace::placement_test
