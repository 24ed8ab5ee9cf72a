// Whose threads run what: the caller's, the shared pools', a session's own.
#include <unistd.h>

#include <set>
#include <thread>

#include "all/session_fixture.h"
#include "base/cpu_info.h"

namespace emplace {
namespace {

class SessionThreads : public testing::SessionFixture {
 protected:
  Output x = placeholder(DType::kFloat, Shape{}, "x");
  Feeds feeds = {{x, Tensor::scalar(1.f)}};

  // `n` nodes that can only go on when all of them run at once.
  Output meeting(Output in, int n) {
    std::vector<Output> all;
    for (int i = 0; i < n; ++i) all.push_back(op("Meet", {in}, {{"party", n}}));
    return add_n(all);
  }
  static RunOptions pool(int i) {
    RunOptions o;
    o.inter_op_thread_pool = i;
    return o;
  }
  static SessionOptions own_threads(int n) {
    SessionOptions o;
    o.use_per_session_threads = true;
    o.inter_op_parallelism_threads = n;
    return o;
  }
  float run(Session& s, Output fetch, const RunOptions& o = {}) {
    return s.run(feeds, std::span(&fetch, 1), {}, o)[0].item<float>();
  }
  // Threads that ran `n` independent nodes.
  std::set<int64_t> threads(Session& s, int n, const RunOptions& o) {
    std::vector<Output> nodes;
    for (int i = 0; i < n; ++i) nodes.push_back(op("ThreadOf", {op("Slow", {x}, {{"us", 10}})}));
    std::set<int64_t> seen;
    for (const Tensor& t : s.run(feeds, nodes, {}, o)) seen.insert(t.item<int64_t>());
    return seen;
  }
};

TEST_F(SessionThreads, ASessionWithItsOwnHasAsManyAsAsked) {
  auto s = session(own_threads(3));
  EXPECT_EQ(run(*s, meeting(x, 3)), 3.f);
  EXPECT_LE(threads(*s, 50, {}).size(), 3u);
}

TEST_F(SessionThreads, AStepIsOverThoughTheHelperItCalledIsBusyElsewhere) {
  auto s = session(own_threads(2));
  const auto meet = [&] { return op("Meet", {x}, {{"party", 3}}); };
  const Output waiting = meet() + meet();
  std::vector<Output> slow;
  for (int i = 0; i < 4; ++i) slow.push_back(op("Slow", {x}, {{"us", 100}}));
  std::thread other([&] { EXPECT_EQ(run(*s, waiting), 2.f); });
  while (testing::number_waiting() < 2) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    s->run(feeds, slow);
    EXPECT_EQ(s->impl().occupied, 1);  // the other's
  }
  EXPECT_EQ(run(*s, meet()), 1.f);  // the third
  other.join();
}

TEST_F(SessionThreads, ACallerOfItsOwnStepsLeavesThreadsToOthers) {
  SessionOptions alone;
  alone.inter_op_parallelism_threads = -1;
  EXPECT_EQ(threads(*session(alone), 5, {}), std::set<int64_t>{gettid()});
  if (default_num_threads() < 2) GTEST_SKIP() << "one core, or one thread asked for";
  EXPECT_EQ(run(*session(), meeting(x, 2)), 2.f);
}

TEST_F(SessionThreads, PoolMinusOneRunsInTheCaller) {
  auto s = session(own_threads(3));
  EXPECT_EQ(threads(*s, 20, pool(-1)), std::set<int64_t>{gettid()});
}

TEST_F(SessionThreads, SomeRunsMayBeInTheCallerAndSomeNot) {
  auto s = session(own_threads(2));
  const Output both = meeting(x, 2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run(*s, both), 2.f);
    EXPECT_EQ(threads(*s, 5, pool(-1)), std::set<int64_t>{gettid()});
  }
}

TEST_F(SessionThreads, ADeepGraphRunsInTheCaller) {
  Output y = x;
  for (int i = 0; i < 5000; ++i) y = y + x;
  const Output thread = op("ThreadOf", {y});
  auto s = session(own_threads(2));
  const auto got = s->run(feeds, std::span(&thread, 1), {}, pool(-1));
  EXPECT_EQ(got[0].item<int64_t>(), gettid());
}

TEST_F(SessionThreads, BelowZeroASessionAlwaysRunsInTheCaller) {
  for (const bool own : {true, false}) {
    SessionOptions o = own_threads(-1);
    o.use_per_session_threads = own;
    EXPECT_EQ(threads(*session(o), 20, {}), std::set<int64_t>{gettid()});
  }
}

TEST_F(SessionThreads, ARunChoosesAmongTheSessionsPools) {
  SessionOptions o;
  o.session_inter_op_thread_pool = {{1, ""}, {3, ""}};
  auto s = session(o);
  EXPECT_EQ(threads(*s, 20, pool(0)), std::set<int64_t>{gettid()});
  EXPECT_EQ(run(*s, meeting(x, 3), pool(1)), 3.f);
}

TEST_F(SessionThreads, AFunctionRunsInThePoolOfItsRun) {
  const auto f = function("three", [&](Output in) { return meeting(in, 3); });
  SessionOptions o;
  o.session_inter_op_thread_pool = {{1, ""}, {3, ""}};
  EXPECT_EQ(run(*session(o), call(*f, x), pool(1)), 3.f);
}

TEST_F(SessionThreads, SessionsShareANamedPool) {
  SessionOptions o;
  o.session_inter_op_thread_pool = {{3, "threads of two sessions"}};
  auto first = session(o), second = session(o);
  EXPECT_EQ(run(*first, meeting(x, 3)), 3.f);
  EXPECT_EQ(run(*second, meeting(x, 3)), 3.f);
  EXPECT_EQ(first->impl().pools.inter_op[0].helpers, second->impl().pools.inter_op[0].helpers);
}

TEST_F(SessionThreads, AFunctionRunsInANamedPool) {
  const auto f = function("pair", [&](Output in) { return meeting(in, 2); });
  SessionOptions o;
  o.session_inter_op_thread_pool = {{2, "threads for functions"}};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(*session(o), call(*f, x)), 2.f);
}

TEST_F(SessionThreads, APoolThatIsNotThereIsRefused) {
  SessionOptions o;
  o.session_inter_op_thread_pool = {{1, ""}, {2, ""}};
  auto s = session(o);
  const Error e = error_of([&] { run(*s, x, pool(2)); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(), "Invalid inter_op_thread_pool: 2");
}

}  // namespace
}  // namespace emplace
