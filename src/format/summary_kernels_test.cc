#include "format/summary_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "emplace/error.h"
#include "emplace/proto/event.pb.h"

namespace emplace {
namespace {

proto::HistogramProto histogram(std::vector<double> values) {
  proto::Summary s;
  EXPECT_TRUE(s.ParseFromString(histogram_message("weights", values)));
  EXPECT_EQ(s.value(0).tag(), "weights");
  return s.value(0).histo();
}

double counted(const proto::HistogramProto& h) {
  double n = 0;
  for (const double b : h.bucket()) n += b;
  return n;
}

TEST(HistogramSummary, AddsUpWhatItSaw) {
  const auto h = histogram({1.0, -2.0, 0.5, 0.5});
  EXPECT_EQ(h.min(), -2.0);
  EXPECT_EQ(h.max(), 1.0);
  EXPECT_EQ(h.num(), 4.0);
  EXPECT_EQ(h.sum(), 0.0);
  EXPECT_EQ(h.sum_squares(), 5.5);
  EXPECT_EQ(counted(h), 4.0);
}

TEST(HistogramSummary, EveryValueLiesBelowTheLimitOfItsBucketAndAboveTheOneBefore) {
  const auto h = histogram({0.25, 0.25, 3.0});
  for (int i = 1; i < h.bucket_size(); ++i) {
    EXPECT_LT(h.bucket_limit(i - 1), h.bucket_limit(i));
    if (h.bucket(i) == 2.0) {
      EXPECT_LE(h.bucket_limit(i - 1), 0.25);
      EXPECT_GT(h.bucket_limit(i), 0.25);
    }
  }
  EXPECT_THAT(h.bucket(), testing::Contains(2.0));
}

TEST(HistogramSummary, RunsOfEmptyBucketsAreOne) {
  const auto h = histogram({1.0, 1000.0});
  for (int i = 1; i < h.bucket_size(); ++i)
    EXPECT_FALSE(h.bucket(i) == 0.0 && h.bucket(i - 1) == 0.0) << i;
}

TEST(HistogramSummary, RefusesWhatIsNoNumber) {
  EXPECT_THROW(histogram_message("x", std::vector{std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(histogram_message("x", std::vector{std::numeric_limits<double>::infinity()}), Error);
}

}  // namespace
}  // namespace emplace
