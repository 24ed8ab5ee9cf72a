#include "base/stop_scope.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/thread_pool.h"
#include "emplace/error.h"

namespace emplace {
namespace {

thread_local int looks = 0;

class StopScopeTest : public testing::Test {
 protected:
  StopScopeTest() {
    looks = 0;
    StopScope::set_look([] { ++looks; });
  }
  ~StopScopeTest() override { StopScope::set_look(nullptr); }
  StopWord word_;
};

TEST_F(StopScopeTest, LooksOncePerQuestion) {
  const StopScope scope(word_);
  std::thread(&StopScope::ask).join();
  EXPECT_FALSE(word_.calm());
  EXPECT_FALSE(word_.stopped());
  StopScope::attend(word_);
  EXPECT_TRUE(word_.calm());
  StopScope::attend(word_);
  EXPECT_EQ(looks, 1);
}

TEST_F(StopScopeTest, AsksTheInnermostWork) {
  StopWord inner;
  const StopScope scope(word_);
  {
    const StopScope nested(inner);
    StopScope::ask();
    EXPECT_FALSE(inner.calm());
    EXPECT_TRUE(word_.calm());
  }
}

TEST_F(StopScopeTest, WhatInnerWorkLeavesUnansweredIsForTheWorkAroundIt) {
  StopWord inner;
  const StopScope scope(word_);
  {
    const StopScope nested(inner);
    StopScope::ask();
  }
  EXPECT_TRUE(inner.calm());
  EXPECT_FALSE(word_.calm());
}

TEST_F(StopScopeTest, OtherThreadsLeaveAQuestionAlone) {
  word_.ask();
  std::thread([this] {
    const StopScope scope(word_);
    StopScope::attend(word_);
    EXPECT_EQ(looks, 0);
  }).join();
  EXPECT_FALSE(word_.calm());
}

TEST_F(StopScopeTest, StoppedWorkEndsThoughItIsAskedToo) {
  word_.ask();
  word_.stop();
  EXPECT_THROW(StopScope::attend(word_), Error);
  EXPECT_EQ(looks, 0);
}

TEST_F(StopScopeTest, WhatTheLookThrowsEndsALongLoop) {
  StopScope::set_look([] { throw cancelled("enough"); });
  ThreadPool pool({});
  const StopScope scope(word_);
  constexpr double kAnHour = 3.6e12;
  EXPECT_THROW(pool.parallel_for(1'000'000, kAnHour, [](size_t, size_t) { StopScope::ask(); }), Error);
}

TEST_F(StopScopeTest, SaysWhetherTheThreadIsAtWork) {
  EXPECT_EQ(StopScope::work_of_looker(), 0u);
  uint64_t first = 0;
  {
    const StopScope scope(word_);
    first = StopScope::work_of_looker();
    EXPECT_NE(first, 0u);
    EXPECT_EQ(StopScope::work_of_looker(), first);
    StopWord inner;
    for (int part = 0; part < 3; ++part) {
      const StopScope nested(inner);
      EXPECT_EQ(StopScope::work_of_looker(), first);  // still at the same
    }
    EXPECT_EQ(StopScope::work_of_looker(), first);
  }
  EXPECT_EQ(StopScope::work_of_looker(), 0u);
  const StopScope scope(word_);
  EXPECT_NE(StopScope::work_of_looker(), first);
}

}  // namespace
}  // namespace emplace
