#include "backends/cpu/candidates.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace::cpu {
namespace {

constexpr int kDraws = 4000;

int64_t count_of(const LearnedWeights& weights, int64_t v) {
  Words words(Philox(3, 4));
  int64_t count = 0;
  for (int i = 0; i < kDraws; ++i) count += weights.draw(words) == v;
  return count;
}

TEST(LearnedWeights, DrawsWhatWasALabelMoreOften) {
  LearnedWeights weights(10);
  EXPECT_FLOAT_EQ(weights.probability(7), 0.1f);
  const std::vector<int64_t> labels(30, 7);
  weights.learn(labels);
  EXPECT_FLOAT_EQ(weights.probability(7), 31.f / 40.f);
  EXPECT_FLOAT_EQ(weights.probability(0), 1.f / 40.f);
  EXPECT_GT(count_of(weights, 7), kDraws / 2);
  EXPECT_GT(count_of(weights, 9), 0);
}

TEST(LearnedWeights, DrawsOnlyClassesOfItsRange) {
  const LearnedWeights weights(13);  // not a power of two
  Words words(Philox(1, 2));
  for (int i = 0; i < kDraws; ++i) {
    const int64_t v = weights.draw(words);
    ASSERT_TRUE(v >= 0 && v < 13) << v;
  }
}

TEST(LearnedWeights, RefusesARangeThatTotalsCannotCount) {
  EXPECT_THROW(LearnedWeights(int64_t{1} << 31), Error);
}

TEST(Words, GivesNumbersBelowABoundEvenly) {
  Words words(Philox(5, 6));
  std::array<int, 3> counts{};
  for (int i = 0; i < 3000; ++i) ++counts[words.below(3)];
  for (const int c : counts) EXPECT_NEAR(c, 1000, 150);
}

}  // namespace
}  // namespace emplace::cpu
