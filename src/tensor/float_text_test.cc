#include "tensor/float_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace emplace {
namespace {

template <class T>
std::vector<std::string> formatted(std::vector<T> values,
                                   FloatFormat::Sign sign = FloatFormat::Sign::kMinusOnly) {
  const FloatFormat format(std::span<const T>(values), sign);
  std::vector<std::string> texts;
  for (const T v : values) texts.push_back(format(v));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(FloatTextTest, AlignsAtThePoint) {
  EXPECT_EQ(formatted<float>({1, -10, 0.25f}), (Texts{"  1.  ", "-10.  ", "  0.25"}));
}

TEST(FloatTextTest, WritesExponentsWhenMagnitudesAreFarApart) {
  EXPECT_EQ(formatted<double>({1, 1000}), (Texts{"   1.", "1000."}));
  EXPECT_EQ(formatted<double>({1, 1001}), (Texts{"1.000e+00", "1.001e+03"}));
  EXPECT_EQ(formatted<double>({1e-5}), (Texts{"1.e-05"}));
  EXPECT_EQ(formatted<double>({1e100, 1}), (Texts{"1.e+100", "1.e+000"}));
}

TEST(FloatTextTest, ExponentsBeginEarlierInNarrowTypes) {
  EXPECT_EQ(formatted<float>({999999}), (Texts{"999999."}));
  EXPECT_EQ(formatted<float>({1e6f}), (Texts{"1.e+06"}));
  EXPECT_EQ(formatted<double>({1e6}), (Texts{"1000000."}));
  EXPECT_EQ(formatted<Half>({Half(1000)}), (Texts{"1.e+03"}));
}

TEST(FloatTextTest, MakesRoomForWhatIsNotFinite) {
  EXPECT_EQ(formatted<float>({NAN, 1}), (Texts{"nan", " 1."}));
  EXPECT_EQ(formatted<float>({-INFINITY, 0.5f}), (Texts{"-inf", " 0.5"}));
  EXPECT_EQ(formatted<float>({NAN, 1}, FloatFormat::Sign::kAlways), (Texts{"+nan", " +1."}));
}

TEST(FloatTextTest, ScalarsStandAlone) {
  EXPECT_EQ(scalar_text(3.0f), "3.0");
  EXPECT_EQ(scalar_text(3.0f, false), "3");
  EXPECT_EQ(scalar_text(-0.0), "-0.0");
  EXPECT_EQ(scalar_text(1e16), "1e+16");
  EXPECT_EQ(scalar_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(scalar_text(0.0001), "0.0001");
  EXPECT_EQ(scalar_text(0.0001f), "1e-04");  // the float is a little less
  EXPECT_EQ(scalar_text(-INFINITY), "-inf");
}

}  // namespace
}  // namespace emplace
