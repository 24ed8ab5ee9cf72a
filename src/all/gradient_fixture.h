#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "all/flow_fixture.h"

namespace emplace::testing {

inline Output ints(std::vector<int32_t> v) { return constant(Tensor::vector<int32_t>(v)); }

// Gradients of functions of doubles, beside differences of the functions themselves.
class GradientFixture : public FlowFixture {
 protected:
  static constexpr DType kDouble = DType::kDouble;

  // Arguments, and the function's outputs as one number, each weighed differently.
  struct Sample {
    Values x;
    std::vector<Tensor> values;
    Output total;
  };
  std::mt19937 random{7};

  Tensor draw(const Shape& shape, double low, double high) {
    std::uniform_real_distribution<double> number(low, high);
    Tensor t(DType::kDouble, shape);
    std::generate_n(t.data<double>(), t.num_elements(), [&] { return number(random); });
    return t;
  }
  // Arguments of these shapes, without a total yet.
  Sample drawn(const std::vector<Shape>& shapes) {
    Sample s;
    for (const Shape& shape : shapes) {
      s.x.push_back(placeholder(DType::kDouble, shape));
      s.values.push_back(draw(shape, 0.2, 0.9));
    }
    return s;
  }
  static Output one(Output y, Output by) {
    return gradients(std::span(&y, 1), std::span(&by, 1))[0];
  }
  Output weighed(Output y) {
    const Output flat = op("Reshape", {y, ints({-1})});
    const Output numbers = op("Range", {constant(0), op("Size", {flat}), constant(1)});
    const Output waves = op("Cos", {op("Cast", {numbers}, {{"DstT", DType::kDouble}})});
    return reduce_sum(flat * (waves + constant(2.0)), {0});
  }
  // Both sides at every element of every argument.
  void check(Session& session, const Sample& s) {
    const std::vector<Output> found = gradients(std::span(&s.total, 1), s.x);
    Feeds feeds;
    for (size_t i = 0; i < s.x.size(); ++i) feeds.emplace_back(s.x[i], s.values[i]);
    for (size_t i = 0; i < s.x.size(); ++i) {
      ASSERT_TRUE(found[i]) << "argument " << i;
      const Tensor gradient = session.run(found[i], feeds);
      ASSERT_EQ(gradient.shape(), s.values[i].shape()) << "argument " << i;
      for (int64_t at = 0; at < gradient.num_elements(); ++at) {
        const double slope = difference(session, s.total, feeds, i, at);
        const double ours = gradient.values<double>()[at];
        EXPECT_NEAR(ours, slope, 2e-5 * std::max(1.0, std::abs(slope))) << "argument " << i << ", " << at;
      }
    }
  }
  double difference(Session& session, Output total, Feeds feeds, size_t i, int64_t at) {
    const double h = 1e-5;
    double sides[2];
    for (int side : {0, 1}) {
      const Tensor moved = feeds[i].second.copy();
      moved.data<double>()[at] += side ? h : -h;
      Feeds there = feeds;
      there[i].second = moved;
      sides[side] = session.run(total, there).item<double>();
    }
    return (sides[1] - sides[0]) / (2 * h);
  }
};

}  // namespace emplace::testing
