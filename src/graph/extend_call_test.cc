#include <gtest/gtest.h>

#include "emplace/eager.h"

namespace emplace {
namespace {

class ExtendCall : public testing::Test {
 protected:
  Output floats() {
    return graph_.add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{2}}})->output();
  }
  Node* call(Output x) {
    return graph_.add("PartitionedCall", {x},
                      {{"Tout", std::vector<DType>{DType::kFloat}}, {"f", FunctionName{"f"}}});
  }
  Graph graph_;
};

TEST_F(ExtendCall, TakesAndGivesMore) {
  const Output x = floats(), y = floats();
  Node* node = call(x);
  extend_call(graph_, node, std::span(&y, 1),
                     {{"Tin", std::vector<DType>{DType::kFloat, DType::kFloat}},
                      {"Tout", std::vector<DType>{DType::kFloat, DType::kInt32}},
                      {"f", FunctionName{"g"}}});
  ASSERT_EQ(node->inputs().size(), 2u);
  EXPECT_EQ(node->inputs()[1], y);
  ASSERT_EQ(node->num_outputs(), 2);
  EXPECT_EQ(node->output_type(1), DType::kInt32);
  EXPECT_EQ(node->attr("f")->as<FunctionName>().name, "g");
}

TEST_F(ExtendCall, RefusesToLoseAnOutput) {
  Node* node = call(floats());
  EXPECT_THROW(extend_call(graph_, node, {}, {{"Tout", std::vector<DType>{}}}), Error);
  EXPECT_EQ(node->num_outputs(), 1);
}

}  // namespace
}  // namespace emplace
