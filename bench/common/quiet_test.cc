#include "bench/common/quiet.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace emplace::bench {
namespace {

TEST(Quiet, AQuarterOfTheValuesAreBelow) {
  EXPECT_DOUBLE_EQ(lower_quartile({5, 1, 4, 2, 3}), 2);
  EXPECT_DOUBLE_EQ(lower_quartile({4, 1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(lower_quartile({7}), 7);
  EXPECT_DOUBLE_EQ(lower_quartile({}), 0);
}

TEST(Quiet, DisturbedRoundsDoNotCount) {
  const Timing timing = summarize(
      {{100, false}, {10, true}, {12, true}, {11, true}, {13, true}, {14, true}, {1, false}});
  EXPECT_DOUBLE_EQ(timing.ns, 11);
  EXPECT_EQ(timing.quiet, 5);
  EXPECT_EQ(timing.rounds, 7);
}

TEST(Quiet, WithoutAQuietRoundTheBestIsShownAndMarked) {
  const Timing timing = summarize({{100, false}, {90, false}});
  EXPECT_DOUBLE_EQ(timing.ns, 90);
  EXPECT_EQ(timing.quiet, 0);
}

TEST(Quiet, RoundThatLostTheCoreIsNotQuiet) {
  QuietClock clock;
  const auto lose_core = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const Round round = clock.time(lose_core, 1, 1);
  EXPECT_GE(round.ns, 5e6);
  EXPECT_FALSE(round.quiet);
}

TEST(Quiet, EverySubjectIsTimed) {
  QuietClock clock;
  int first = 0, second = 0;
  std::vector<Subject> subjects{{[&] { ++first; }, 10, 1, {}}, {[&] { ++second; }, 20, 1, {}}};
  measure(clock, subjects, {1, 0});
  EXPECT_EQ(first, 11);  // one to warm up
  EXPECT_EQ(second, 21);
  EXPECT_EQ(subjects[0].timing.rounds, 1);
}

}  // namespace
}  // namespace emplace::bench
