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
  EXPECT_EQ(placement->reason(1), Reason::kDefault);
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

TEST_F(PlacementData, ReasonsHaveNames) {
  EXPECT_EQ(reason_name(Reason::kAlreadyPlaced), "already placed");
  EXPECT_EQ(reason_name(Reason::kSoft), "soft placement");
}

}  // namespace
}  // namespace emplace::placement_test
