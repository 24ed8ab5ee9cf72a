#include <gtest/gtest.h>

#include "emplace/ops.h"
#include "emplace/session.h"
#include "emplace/what_if.h"

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

TEST(TimelineSvg, DrawsStepsBelowEachOtherOnOneScale) {
  RunMetadata step;
  step.nodes.push_back({"a<b", "MatMul", "/job:x/device:CPU:0", 0, 1'000'000, 16, 2});
  step.nodes.push_back({"c", "Copy", "/job:x/device:GPU:0", 1'000'000, 1'500'000, 0, 1});
  RunMetadata longer = step;
  longer.nodes[0].end_ns = 3'000'000;
  const Timeline steps[] = {{"predicted", step}, {"measured", longer}};
  const std::string svg = timeline_svg(steps);
  EXPECT_TRUE(svg.starts_with("<svg")) << svg;
  EXPECT_NE(svg.find("predicted: 1.50 ms"), std::string::npos) << svg;
  EXPECT_NE(svg.find("measured: 3.00 ms"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b (MatMul) on /job:x/device:CPU:0: 1.00 ms, from 0.0 us"), std::string::npos);
  EXPECT_NE(svg.find("device:GPU:0 (copies to it)"), std::string::npos);
  EXPECT_NE(svg.find("width=\"333.3\""), std::string::npos);
  EXPECT_NE(svg.find("width=\"1000.0\""), std::string::npos);
  EXPECT_TRUE(timeline_svg({}).starts_with("<svg"));
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
