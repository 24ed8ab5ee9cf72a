#include "format/media_summaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace emplace {
namespace {

std::vector<int> pixels(std::vector<double> values, int64_t channels = 1) {
  const uint8_t red[] = {255, 0, 0, 255};
  std::vector<int> out;
  for (const char b : as_pixels(values, channels, DType::kFloat, red))
    out.push_back(static_cast<uint8_t>(b));
  return out;
}

TEST(MediaSummaries, TheLargestValueBecomes255) {
  EXPECT_THAT(pixels({0, 1, 2, 4}), testing::ElementsAre(0, 63, 127, 255));
  EXPECT_THAT(pixels({0, 0}), testing::ElementsAre(0, 0));
}

TEST(MediaSummaries, NegativeValuesMoveZeroToTheMiddle) {
  EXPECT_THAT(pixels({-2, 0, 1}), testing::ElementsAre(1, 128, 191));
}

TEST(MediaSummaries, APixelThatIsNotFiniteIsMarked) {
  EXPECT_THAT(pixels({1, 1, NAN, 1, 1, 0.5}, 3), testing::ElementsAre(255, 0, 0, 255, 255, 127));
}

}  // namespace
}  // namespace emplace
