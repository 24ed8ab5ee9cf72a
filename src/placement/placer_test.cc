#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using PlacementData = PlacingTest;

TEST_F(PlacementData, GivesADeviceForEveryNodeInTheirOrder) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "n", {in->output()});
  run();
  ASSERT_EQ(placement->size(), 2u);
  EXPECT_EQ(placement->info(0).name, full("CPU:0"));
  EXPECT_EQ(placement->info(1).name, full("GPU:0"));
  EXPECT_EQ(devices[placement->device(1)].name, full("GPU:0"));
  EXPECT_EQ(placement->explain(1).reason, Reason::kDefault);
}

TEST_F(PlacementData, IsATable) {
  Node* in = add("TestInput", "in");
  add("TestRelu", "long_name", {in->output()}, "/device:GPU:1");
  run();
  EXPECT_EQ(placement->table(),
            "node       op         device                                reason\n"
            "in         TestInput  /job:a/replica:0/task:0/device:CPU:0  default device: only CPU "
            "has a kernel\n"
            "long_name  TestRelu   /job:a/replica:0/task:0/device:GPU:1  pinned by the user to "
            "'/device:GPU:1'\n");
}

TEST(Placers, AreFoundByName) {
  EXPECT_NE(make_placer("simple"), nullptr);
  try {
    make_placer("best");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_THAT(e.message(), ::testing::HasSubstr("There is no placer 'best': known are simple"));
  }
}

TEST(Placers, PutACallOnTheFirstDeviceOfTheFirstTypeThatIsWanted) {
  const std::vector<DeviceInfo> devices = fake_devices(2);  // CPU:0, GPU:1, CPU:1, GPU:0, XLA_CPU:0
  const std::vector<Support> kernels{{"GPU"}, {"CPU"}};
  const auto placer = make_placer("simple");
  const auto at = [&](const char* wanted) {
    return placer->place_call({devices, kernels, DeviceName::parse(wanted)});
  };
  EXPECT_EQ(at("/job:a"), 1);
  EXPECT_EQ(at("/device:GPU:0"), 3);
  EXPECT_EQ(at("/device:CPU:*"), 0);
  EXPECT_EQ(at("/device:GPU:7"), -1);
  EXPECT_EQ(at("/device:XLA_CPU:0"), -1);
}

TEST_F(PlacementData, ReasonsHaveNames) {
  EXPECT_EQ(reason_name(Reason::kAlreadyPlaced), "already placed");
  EXPECT_EQ(reason_name(Reason::kSoft), "soft placement");
}

}  // namespace
}  // namespace emplace::placement_test
