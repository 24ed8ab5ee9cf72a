#include "placement/log_text.h"

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

TEST(LogText, ListsDevicesThatHaveADescription) {
  const std::string cpu = full("CPU:0"), gpu = full("GPU:0");
  EXPECT_EQ(device_mapping(std::vector{device_info(cpu), device_info(gpu, "device: 0, name: X")}),
            "Device mapping:\n" + gpu + " -> device: 0, name: X\n");
}

TEST(LogText, SaysWhenThereIsNoneToList) {
  EXPECT_EQ(device_mapping(std::vector{device_info(full("CPU:0"))}),
            "Device mapping: no known devices.\n");
}

TEST(LogText, ALineIsNodeAndDevice) {
  Graph graph(test_ops());
  EXPECT_EQ(placement_line(*add_node(graph, "NoOp", "scope/init"), full("CPU:0")),
            "scope/init: /job:a/replica:0/task:0/device:CPU:0");
}

}  // namespace
}  // namespace emplace::placement_test
