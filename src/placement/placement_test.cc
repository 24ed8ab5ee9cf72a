#include "placement/placement_testutil.h"

#if EMPLACE_WITH_JSON
#include <nlohmann/json.hpp>
#endif

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

TEST_F(PlacementData, IsJson) {
  devices = devices_named({full("CPU:0"), full("GPU:0")});
  add("TestInput", "in", {}, "/device:CPU:0");
  run();
  EXPECT_EQ(placement->to_json(),
            R"([{"node": "in", "op": "TestInput", )"
            R"("device": "/job:a/replica:0/task:0/device:CPU:0", )"
            R"("reason": "pinned", "detail": "pinned by the user to '/device:CPU:0'", )"
            R"("requested": "/device:CPU:0", "source": "model.py:7", "rejected": [{"device": )"
            R"("/job:a/replica:0/task:0/device:GPU:0", "why": "not '/device:CPU:0'"}]}])"
            "\n");
}

#if EMPLACE_WITH_JSON
TEST_F(PlacementData, JsonOfOddCharactersParses) {
  NodeOptions options;
  options.name = "in";
  options.exact_name = true;
  options.raw = true;
  options.source = "C:\\dir\\\"a\".py:1\n\x01";
  graph.add("TestInput", {}, {}, options);
  run();
  EXPECT_EQ(nlohmann::json::parse(placement->to_json()).at(0).at("source"), options.source);
}
#endif

TEST_F(PlacementData, ReasonsHaveNames) {
  EXPECT_EQ(reason_name(Reason::kAlreadyPlaced), "already placed");
  EXPECT_EQ(reason_name(Reason::kSoft), "soft placement");
}

}  // namespace
}  // namespace emplace::placement_test
