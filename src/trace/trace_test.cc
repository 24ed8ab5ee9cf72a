#include <gtest/gtest.h>

#include "emplace/ops.h"
#include "emplace/session.h"

namespace emplace {
namespace {

TEST(ChromeTrace, IsOneProcessADevice) {
  RunMetadata step;
  step.nodes.push_back({"a", "MatMul", "/device:CPU:0", 1000, 3500, 16, 2});
  step.nodes.push_back({"b", "Add", "/device:GPU:0", 4000, 5000, 0, 1});
  step.nodes.push_back({"c", "Add", "/device:CPU:0", 6000, 7000, 0, 1});
  const std::string text = chrome_trace(step);
  EXPECT_NE(text.find("\"ts\": 1.000, \"dur\": 2.500"), std::string::npos) << text;
  EXPECT_NE(text.find("\"name\": \"/device:GPU:0\""), std::string::npos);
  EXPECT_EQ(text.find("\"pid\": 3"), std::string::npos);
}

class Picture : public ::testing::Test {
 protected:
  void SetUp() override {
    const Scope in_graph = graph.as_default();
    const Output a = constant(Tensor::scalar(1.f), "a");
    a + a;
    report.rows.push_back({"a", "Const", "/device:CPU:0", "by \"default\"", {}});
    report.rows.push_back({"add", "AddV2", "/device:GPU:0", "pinned <here>", {}});
  }
  Graph graph;
  PlacementReport report;
};

TEST_F(Picture, DotHasAClusterADeviceAndEveryEdge) {
  const std::string dot = placement_dot(graph, report);
  EXPECT_NE(dot.find("label=\"/device:GPU:0\""), std::string::npos);
  EXPECT_NE(dot.find("\"a\" -> \"add\";"), std::string::npos);
  EXPECT_NE(dot.find("by \\\"default\\\""), std::string::npos);
}

TEST_F(Picture, SvgEscapesAndColours) {
  const std::string svg = placement_svg(graph, report);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("pinned &lt;here&gt;"), std::string::npos);
  EXPECT_NE(svg.find("#8ecae6"), std::string::npos);
  EXPECT_NE(svg.find("#ffb703"), std::string::npos);
}

}  // namespace
}  // namespace emplace
