#include "op/strided_slice.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

using V = std::vector<int64_t>;

SliceSpec spec(V begin, V end, V strides) {
  SliceSpec s;
  s.entries = static_cast<int>(begin.size());
  s.begin = std::move(begin);
  s.end = std::move(end);
  s.strides = std::move(strides);
  return s;
}

TEST(PlanSlice, CountsWithStridesEitherWay) {
  EXPECT_EQ(plan_slice({10}, spec({1}, {8}, {3})).result, Shape({3}));
  EXPECT_EQ(plan_slice({10}, spec({8}, {1}, {-3})).result, Shape({3}));
  EXPECT_EQ(plan_slice({10}, spec({-3}, {100}, {1})).result, Shape({3}));
  EXPECT_EQ(plan_slice({10}, spec({5}, {5}, {1})).result, Shape({0}));
  EXPECT_EQ(plan_slice({0}, spec({0}, {5}, {-1})).result, Shape({0}));
}

TEST(PlanSlice, MasksReachTheEnds) {
  SliceSpec s = spec({0}, {0}, {-1});
  s.begin_mask = s.end_mask = 1;
  const SlicePlan p = plan_slice({4}, s);
  EXPECT_EQ(p.result, Shape({4}));
  EXPECT_EQ(p.dims[0].begin, 3);
}

TEST(PlanSlice, EllipsisNewAxisAndShrink) {  // a[1, ..., newaxis, :2]
  SliceSpec s = spec({1, 0, 0, 0}, {2, 0, 0, 2}, {1, 1, 1, 1});
  s.shrink_mask = 1;
  s.ellipsis_mask = 2;
  s.new_axis_mask = 4;
  s.begin_mask = 8;
  EXPECT_EQ(plan_slice({3, 4, 5, 6}, s).result, Shape({4, 5, 1, 2}));
}

TEST(PlanSlice, UnknownSizesStayUnknown) {
  SliceSpec s = spec({0, 0}, {1, 2}, {1, 1});
  s.shrink_mask = 1;
  EXPECT_EQ(plan_slice({-1, -1}, s).result, Shape({-1}));
  s.begin.reset();
  EXPECT_EQ(plan_slice({3, 4}, s).result, Shape({-1}));
}

TEST(PlanSlice, RefusesWhatMakesNoSense) {
  EXPECT_THROW(plan_slice({3}, spec({0}, {1}, {0})), Error);
  EXPECT_THROW(plan_slice({3}, spec({0, 0}, {1, 1}, {1, 1})), Error);
  SliceSpec s = spec({3}, {4}, {1});
  s.shrink_mask = 1;
  EXPECT_THROW(plan_slice({3}, s), Error);
}

}  // namespace
}  // namespace emplace
