#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"
#include "emplace/error.h"

namespace emplace::cpu {
namespace {

Tensor shuffled(int32_t index, int32_t last, AttrList attrs = {}) {
  return kernels().run1("RandomIndexShuffle",
                        {Tensor::scalar(index), ints({1, 2, 3}), Tensor::scalar(last)},
                        std::move(attrs));
}

TEST(RandomIndexShuffle, GivesEachPlaceOnce) {
  std::vector<bool> seen(50);
  for (int32_t i = 0; i < 50; ++i) seen[static_cast<size_t>(shuffled(i, 49).item<int32_t>())] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 50);
}

TEST(RandomIndexShuffle, APlaceThatIsNoneIsAnErrorAndNoSearch) {
  EXPECT_THROW(shuffled(-5, 3), Error);
  EXPECT_THROW(shuffled(-5, -1), Error);
  EXPECT_THROW(shuffled(4, 3), Error);
  EXPECT_THROW(shuffled(0, 3, {{"rounds", int64_t{1} << 40}}), Error);
}

TEST(StatelessRandomBinomial, OfCountsThatAreNoneEnds) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor out = kernels().run1(
      "StatelessRandomBinomial",
      {ints({3}), ints({1, 2}), floats({kNan, kInf, kInf}), floats({0.3f, 0.3f, 1e-30f})},
      {{"dtype", DType::kFloat}});
  for (float x : list<float>(out)) EXPECT_TRUE(std::isnan(x));
}

}  // namespace
}  // namespace emplace::cpu
