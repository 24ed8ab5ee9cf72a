#include "placement/costs/source.h"

#include <gtest/gtest.h>

#include "op/op_def.h"
#include "op/shape_context.h"
#include "placement/request.h"

namespace emplace {
namespace {

const OpRow kRows[] = {
    {"Source() -> (y: float) | shape: shape", shape_rules::from_shape_attr, cost_rules::cheap, ""},
    {"Times(a: float, b: float) -> (y: float) | transpose_a: bool = false; transpose_b: bool = "
     "false; seed: int = 0",
     shape_rules::matmul, cost_rules::matmul, ""},
    {"Const() -> (y: float) | value: tensor", shape_rules::scalar, cost_rules::cheap, ""},
};

class BookCostsTest : public ::testing::Test {
 protected:
  BookCostsTest() : ops_(registry()), graph_(ops_) {}
  static OpRegistry registry() {
    OpRegistry r;
    r.add(kRows);
    return r;
  }
  Output source(Shape shape, std::string name) {
    NodeOptions options;
    options.name = std::move(name);
    return graph_.add("Source", {}, {{"shape", shape}}, options)->output();
  }
  Node* product(Output a, Output b, AttrList attrs = {}) {
    NodeOptions options;
    options.name = "p";
    return graph_.add("Times", {a, b}, std::move(attrs), options);
  }
  CostRow measured(const Node& node, double seconds, std::string name = {}) const {
    std::vector<Shape> in;
    for (const Output& o : node.inputs()) in.push_back(o.shape());
    return {std::move(name), call_of(node, in), {}, "kind", {seconds, 0.1 * seconds, 4}};
  }
  BookCosts costs() const { return BookCosts(book_, {{device_.name, "kind"}}); }
  NodeCost time(const Node& node) const { return costs().time(node, device_).value(); }

  const OpRegistry ops_;
  Graph graph_;
  CostBook book_;
  const DeviceInfo device_ = device_info("/job:localhost/replica:0/task:0/device:CPU:0");
  const DeviceInfo gpu_ = device_info("/job:localhost/replica:0/task:0/device:GPU:0");
};

TEST_F(BookCostsTest, TakesWhatWasMeasuredOfTheNodeThenOfTheCallThenAnEstimate) {
  const Node* p = product(source({100, 200}, "a"), source({200, 50}, "b"));
  book_.set_rates({"kind", 1e-6, 1e9, {{1e6, 1e9}}, {{1, 1e10}}});
  EXPECT_NEAR(time(*p).seconds, 1e-6 + 2.0 * 100 * 200 * 50 / 1e9, 1e-9);
  EXPECT_FALSE(time(*p).measured);
  EXPECT_GT(time(*p).spread, 0);
  book_.add(measured(*p, 3));
  EXPECT_EQ(time(*p).seconds, 3);
  EXPECT_TRUE(time(*p).measured);
  book_.add(measured(*p, 5, "p"));
  EXPECT_EQ(time(*p).seconds, 5);
}

TEST_F(BookCostsTest, TakesErrorsOfEstimatesOverToOtherKinds) {
  const Node* p = product(source({100, 200}, "a"), source({200, 50}, "b"));
  book_.set_rates({"kind", 0, 1e9, {{1e6, 1e9}}, {{1, 1e10}}});
  book_.set_rates({"card", 0, 1e9, {{1e6, 1e10}}, {{1, 1e10}}});
  const auto on_card = [&] {
    const BookCosts costs(book_, {{device_.name, "kind"}, {gpu_.name, "card"}});
    return costs.time(*p, gpu_).value();
  };
  const double estimate = 2.0 * 100 * 200 * 50 / 1e10;
  EXPECT_NEAR(on_card().seconds, estimate, 1e-12);
  book_.add(measured(*p, 3 * 10 * estimate, "p"));  // three times what was estimated there
  EXPECT_NEAR(on_card().seconds, 3 * estimate, 1e-9);
  EXPECT_FALSE(on_card().measured);
  book_.add(measured(*product(source({10, 10}, "c"), source({10, 10}, "d")), 1, "p"));
  EXPECT_NEAR(on_card().seconds, estimate, 1e-12) << "another call says nothing";
}

TEST_F(BookCostsTest, TakesUnknownShapesAsTheyWereLastSeen) {
  const Output a = source({-1, 200}, "a"), b = source({200, 50}, "b");
  const Node* p = product(a, b);
  EXPECT_EQ(costs().bytes(*a.node, 0), CostContext::kAssumedDim * 200 * 4);
  book_.add({"a", {"Source", "", ""}, "float32[1000,200]", "kind", {0, 0, 1}});
  EXPECT_EQ(costs().bytes(*a.node, 0), 1000 * 200 * 4);
  book_.set_rates({"kind", 0, 1e9, {{1e6, 1e9}}, {{1, 1e10}}});
  EXPECT_NEAR(time(*p).seconds, 2.0 * 1000 * 200 * 50 / 1e9, 1e-9);
}

TEST_F(BookCostsTest, KnowsCallsApartByWhatMatters) {
  const Output a = source({10, 10}, "a");
  const std::vector<Shape> in = {Shape({10, 10}), Shape({10, 10})};
  const CostCall plain = call_of(*product(a, a), in);
  EXPECT_EQ(plain.inputs, "float32[10,10] float32[10,10]");
  EXPECT_EQ(call_of(*product(a, a, {{"seed", 7}}), in), plain);
  EXPECT_NE(call_of(*product(a, a, {{"transpose_a", true}}), in), plain);
}

TEST_F(BookCostsTest, ChargesNothingForValues) {
  const Node* c = graph_.add("Const", {}, {{"value", Tensor::scalar(1.f)}});
  EXPECT_EQ(time(*c).seconds, 0);
}

TEST_F(BookCostsTest, GuessesLinksThatNobodyMeasured) {
  EXPECT_EQ(costs().link(device_, device_).latency_s, 0);
  EXPECT_GT(costs().link(device_, gpu_).latency_s, 0);
  book_.set_link({"kind", "GPU", 3e-6, 5e9});
  EXPECT_EQ(costs().link(device_, gpu_).latency_s, 3e-6);
  EXPECT_EQ(costs().link(device_, gpu_).bytes_per_s, 5e9);
}

TEST(Estimate, TakesRatesOfProductsBetweenMeasuredSizes) {
  const DeviceRates rates{"kind", 0, 1e9, {{1e4, 1e9}, {1e8, 1e11}}, {{1e3, 1e11}, {1e6, 1e10}}};
  EXPECT_NEAR(seconds({.flops = 1e4}, rates), 1e-5, 1e-12);
  EXPECT_NEAR(seconds({.flops = 1e6}, rates), 1e6 / 1e10, 1e-12);
  EXPECT_NEAR(seconds({.flops = 1e10}, rates), 0.1, 1e-9);
  EXPECT_NEAR(seconds({.flops = 1e8, .pieces = 1e4}, rates), 0.1, 1e-9) << "small ones in a row";
  EXPECT_NEAR(seconds({.bytes = 1000}, rates), 1e-8, 1e-15);
  EXPECT_NEAR(seconds({.bytes = 1e6}, rates), 1e-4, 1e-12);
  EXPECT_NEAR(seconds({.ops = 1e6, .bytes = 1e6}, rates), 1e-3, 1e-12) << "the longer of the two";
}

TEST(Estimate, ReadsShapesAsItWritesThem) {
  const DType types[] = {DType::kFloat, DType::kInt32, DType::kBool};
  const Shape shapes[] = {Shape({2, -1}), Shape{}, Shape::unknown()};
  const std::string text = shapes_text(types, shapes);
  EXPECT_EQ(text, "float32[2,?] int32[] bool<unknown>");
  const std::vector<Shape> again = shapes_from(text);
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0], shapes[0]);
  EXPECT_EQ(again[1], shapes[1]);
  EXPECT_FALSE(again[2].has_rank());
  for (const char* bad : {"float32[2x3]", "float32[", "[[", "float32[9999999999999999999999]"})
    (void)shapes_from(bad);
}

}  // namespace
}  // namespace emplace
