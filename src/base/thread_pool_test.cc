#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/cpu_info.h"
#include "base/log.h"
#include "base/stop_scope.h"
#include "emplace/error.h"

namespace emplace {
namespace {

using namespace std::chrono_literals;

constexpr double kDear = 10'000;  // ns an item: every item becomes a block of its own

ThreadPool::Options threads(int n) { return {.name = "test", .num_threads = n, .cores = {}}; }

// A task that adds n to the counter behind arg.
void add(void* arg, uint64_t n) { *static_cast<std::atomic<uint64_t>*>(arg) += n; }

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, HasTheThreadsAskedFor) {
  ThreadPool pool(threads(GetParam()));
  EXPECT_EQ(pool.size(), GetParam());
}

TEST_P(ThreadPoolTest, RunsEverySubmittedTaskBeforeItEnds) {
  std::atomic<uint64_t> sum{0};
  {
    ThreadPool pool(threads(GetParam()));
    for (uint64_t i = 1; i <= 1000; ++i) pool.submit({add, &sum, i});
  }
  EXPECT_EQ(sum, 500'500u);
}

TEST_P(ThreadPoolTest, RunsTasksSubmittedByTasksWhileItEnds) {
  struct Chain {
    ThreadPool* pool;
    std::atomic<int> ran{0};
    static void step(void* arg, uint64_t n) {
      auto* chain = static_cast<Chain*>(arg);
      ++chain->ran;
      if (n > 0) chain->pool->submit({step, arg, n - 1});
    }
  } chain;
  {
    ThreadPool pool(threads(GetParam()));
    chain.pool = &pool;
    pool.submit({Chain::step, &chain, 99});
  }
  EXPECT_EQ(chain.ran, 100);
}

TEST_P(ThreadPoolTest, TakesTasksFromSeveralThreads) {
  std::atomic<uint64_t> sum{0};
  {
    ThreadPool pool(threads(GetParam()));
    std::vector<std::thread> submitters;
    for (int t = 0; t < 4; ++t) {
      submitters.emplace_back([&] {
        for (int i = 0; i < 500; ++i) pool.submit({add, &sum, 1});
      });
    }
    for (auto& thread : submitters) thread.join();
  }
  EXPECT_EQ(sum, 2000u);
}

TEST_P(ThreadPoolTest, CallsEveryItemOfALoopOnce) {
  ThreadPool pool(threads(GetParam()));
  for (size_t n : {0u, 1u, 2u, 7u, 100u, 1000u, 4097u}) {
    std::vector<std::atomic<int>> hits(n);
    pool.parallel_for(n, kDear, [&](size_t begin, size_t end) {
      ASSERT_LT(begin, end);
      for (size_t i = begin; i < end; ++i) ++hits[i];
    });
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(hits[i], 1) << i << " of " << n;
  }
}

TEST_P(ThreadPoolTest, CutsALoopIntoTheSameBlocksWithAnyNumberOfThreads) {
  ThreadPool pool(threads(GetParam()));
  constexpr size_t kItems = 100'000;
  const auto blocks = ThreadPool::blocks_of(kItems, 10);
  std::mutex mutex;
  std::set<std::pair<size_t, size_t>> seen, expected;
  pool.parallel_for(kItems, 10, [&](size_t begin, size_t end) {
    std::lock_guard lock(mutex);
    seen.insert({begin, end});
  });
  for (size_t b = 0; b < kItems; b += blocks.size)
    expected.insert({b, std::min(kItems, b + blocks.size)});
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(seen.size(), blocks.count);
}

TEST_P(ThreadPoolTest, LoopsFromSeveralThreadsAtOnceStayApart) {
  ThreadPool pool(threads(GetParam()));
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (size_t n = 1; n < 60; ++n) {
        std::atomic<size_t> sum{0};
        pool.parallel_for(n, kDear, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) sum += i + 1;
        });
        if (sum != n * (n + 1) / 2) ++wrong;
      }
    });
  }
  for (auto& thread : callers) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ThreadPoolTest, NestedLoopRunsInPlace) {
  ThreadPool pool(threads(GetParam()));
  std::atomic<size_t> sum{0};
  std::atomic<int> moved{0};
  pool.parallel_for(20, kDear, [&](size_t, size_t) {
    const auto here = std::this_thread::get_id();
    pool.parallel_for(10, kDear, [&](size_t begin, size_t end) {
      if (std::this_thread::get_id() != here) ++moved;
      sum += end - begin;
    });
  });
  EXPECT_EQ(sum, 200u);
  EXPECT_EQ(moved, 0);
}

TEST_P(ThreadPoolTest, LoopInsideATaskFinishesThoughAllThreadsRunTasks) {
  struct State {
    ThreadPool* pool;
    std::atomic<size_t> sum{0};
  } state;
  {
    ThreadPool pool(threads(GetParam()));
    state.pool = &pool;
    for (int i = 0; i < 2 * GetParam(); ++i) {
      pool.submit({[](void* arg, uint64_t) {
                     auto* s = static_cast<State*>(arg);
                     s->pool->parallel_for(50, kDear, [&](size_t b, size_t e) { s->sum += e - b; });
                   },
                   &state, 0});
    }
  }
  EXPECT_EQ(state.sum, 100u * static_cast<size_t>(GetParam()));
}

TEST_P(ThreadPoolTest, FirstExceptionOfALoopReachesTheCallerAndTheNextLoopWorks) {
  ThreadPool pool(threads(GetParam()));
  for (int round = 0; round < 20; ++round) {
    try {
      pool.parallel_for(100, kDear, [&](size_t begin, size_t) {
        if (begin % 10 == 3) throw invalid_argument("block");
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "block");
    }
    std::atomic<size_t> sum{0};
    pool.parallel_for(100, kDear, [&](size_t begin, size_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 100u);
  }
}

TEST_P(ThreadPoolTest, ALongLoopEndsBetweenBlocksOnceItIsStopped) {
  ThreadPool pool(threads(GetParam()));
  StopWord stop;
  std::atomic<size_t> blocks{0};
  const auto loop = [&](double cost) {
    blocks = 0;
    pool.parallel_for(100, cost, [&](size_t begin, size_t end) {
      blocks += end - begin;
      stop.stop();
    });
  };
  constexpr double kAnHour = 3.6e12;
  {
    const StopScope stoppable(stop);
    EXPECT_THROW(loop(kAnHour), Error);
    EXPECT_LE(blocks, static_cast<size_t>(GetParam()) + 1);  // those that were under way
    loop(kDear);
    EXPECT_EQ(blocks, 100u);  // over soon anyway
  }
  loop(kAnHour);
  EXPECT_EQ(blocks, 100u);
}

// The caller has no block left and waits; a helper is in the midst of one.
TEST_P(ThreadPoolTest, HelpersEndWithinABlockOnceTheCallersWorkIsStopped) {
  ThreadPool pool(threads(GetParam()));
  StopWord stop;
  const StopScope stoppable(stop);
  std::atomic<bool> helped{false}, ended{false};
  std::thread stopper([&] {
    for (int i = 0; i < 20'000 && !helped; ++i) std::this_thread::sleep_for(1ms);
    stop.stop();
  });
  const auto help = [&] {
    helped = true;
    try {
      for (int i = 0; i < 20'000; ++i, std::this_thread::sleep_for(1ms)) StopScope::attend();
    } catch (...) {
      ended = true;
      throw;
    }
  };
  EXPECT_THROW(pool.parallel_for(64, kDear,
                                 [&](size_t, size_t) {
                                   if (ThreadPool::current() == &pool) return help();
                                   while (!stop.stopped()) std::this_thread::yield();
                                 }),
               Error);
  EXPECT_TRUE(ended);
  stopper.join();
}

TEST_P(ThreadPoolTest, AnExceptionDoesNotEndAWorker) {
  set_log_level(LogLevel::kOff);
  std::atomic<uint64_t> sum{0};
  uint64_t dropped = 0;
  {
    ThreadPool pool(threads(GetParam()));
    for (int i = 0; i < 50; ++i) {
      pool.submit({[](void*, uint64_t) { throw std::runtime_error("lost"); }, nullptr, 0});
      pool.submit({[](void*, uint64_t) { throw 42; }, nullptr, 0});
      pool.submit({add, &sum, 1});
    }
    while (sum < 50 || pool.dropped_exceptions() < 100) std::this_thread::sleep_for(100us);
    dropped = pool.dropped_exceptions();
  }
  set_log_level(LogLevel::kWarning);
  EXPECT_EQ(sum, 50u);
  EXPECT_EQ(dropped, 100u);
}

INSTANTIATE_TEST_SUITE_P(Workers, ThreadPoolTest, ::testing::Values(1, 2, 3, 4, 8, 16));

TEST(ThreadPool, HelpersReallyRunAtTheSameTime) {
  ThreadPool pool(threads(3));
  // Every block waits for the others: only four threads at once get through.
  std::atomic<int> arrived{0};
  pool.parallel_for(4, 1e6, [&](size_t, size_t) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (arrived < 4 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 4);
}

TEST(ThreadPool, TasksReallyRunAtTheSameTime) {
  std::atomic<uint64_t> arrived{0};
  const auto meet = [](void* arg, uint64_t) {
    auto& count = *static_cast<std::atomic<uint64_t>*>(arg);
    ++count;
    while (count < 4) std::this_thread::yield();
  };
  {
    ThreadPool pool(threads(4));
    for (int i = 0; i < 4; ++i) pool.submit({meet, &arrived, 0});
  }
  EXPECT_EQ(arrived, 4u);
}

TEST(ThreadPool, TasksStartInOrderAcrossGrowthOfTheQueue) {
  std::vector<uint64_t> order;
  struct State {
    std::vector<uint64_t>* order;
    std::atomic<bool> go{false};
  } state{&order};
  {
    ThreadPool pool(threads(1));
    pool.submit({[](void* arg, uint64_t) {
                   while (!static_cast<State*>(arg)->go) std::this_thread::yield();
                 },
                 &state, 0});
    for (uint64_t i = 0; i < 1000; ++i) {
      pool.submit({[](void* arg, uint64_t n) { static_cast<State*>(arg)->order->push_back(n); },
                   &state, i});
    }
    state.go = true;
  }
  std::vector<uint64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(ThreadPool, WithoutThreadsEverythingRunsInTheCaller) {
  ThreadPool pool(threads(0));
  std::atomic<uint64_t> sum{0};
  pool.submit({add, &sum, 5});
  EXPECT_EQ(sum, 5u);
  const auto here = std::this_thread::get_id();
  pool.parallel_for(100, kDear, [&](size_t b, size_t e) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    sum += e - b;
  });
  EXPECT_EQ(sum, 105u);
}

TEST(ThreadPool, CheapLoopIsOneBlockInTheCaller) {
  ThreadPool pool(threads(2));
  const auto here = std::this_thread::get_id();
  int calls = 0;
  pool.parallel_for(1000, 1, [&](size_t begin, size_t end) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(begin, 0u);
    EXPECT_EQ(end, 1000u);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, BlocksAreNeitherTooSmallNorTooMany) {
  using P = ThreadPool;
  EXPECT_EQ(P::blocks_of(0, 5).count, 0u);
  EXPECT_EQ(P::blocks_of(100, 0).count, 1u);
  EXPECT_EQ(P::blocks_of(100, -1).count, 1u);
  EXPECT_EQ(P::blocks_of(100, std::nan("")).count, 1u);
  EXPECT_EQ(P::blocks_of(100, 1e30).size, 1u);
  EXPECT_EQ(P::blocks_of(1'000'000'000, 1).count, 512u);
  EXPECT_EQ(P::blocks_of(100'000, 1).size, 8000u);
  const auto huge = P::blocks_of(SIZE_MAX, 1e-3);
  EXPECT_LE(huge.count, 512u);
  EXPECT_GE(huge.size, SIZE_MAX / 512);
}

TEST(ThreadPool, ThreadsKnowTheirPoolNameAndIndex) {
  ThreadPool pool({.name = "a_rather_long_name", .num_threads = 1, .cores = {}});
  struct Seen {
    ThreadPool* pool = nullptr;
    int index = -1;
    char name[16] = {};
    std::atomic<bool> done{false};
  } seen;
  pool.submit({[](void* arg, uint64_t) {
                 auto* s = static_cast<Seen*>(arg);
                 s->pool = ThreadPool::current();
                 s->index = ThreadPool::current_index();
                 pthread_getname_np(pthread_self(), s->name, sizeof s->name);
                 s->done = true;
               },
               &seen, 0});
  while (!seen.done) std::this_thread::yield();
  EXPECT_EQ(seen.pool, &pool);
  EXPECT_EQ(seen.index, 0);
  EXPECT_STREQ(seen.name, "a_rather_long/0");
  EXPECT_EQ(ThreadPool::current(), nullptr);
  EXPECT_EQ(ThreadPool::current_index(), -1);
}

TEST(ThreadPool, ThreadsAreBoundToTheCoresGiven) {
  const int core = usable_cores().back();
  ThreadPool pool({.name = "bound", .num_threads = 2, .cores = {core}});
  std::atomic<uint64_t> right{0}, ran{0};
  struct State {
    std::atomic<uint64_t>*right, *ran;
    int core;
  } state{&right, &ran, core};
  for (int i = 0; i < 20; ++i) {
    pool.submit({[](void* arg, uint64_t) {
                   auto* s = static_cast<State*>(arg);
                   if (usable_cores() == std::vector<int>{s->core}) ++*s->right;
                   ++*s->ran;
                 },
                 &state, 0});
  }
  while (ran < 20) std::this_thread::yield();
  EXPECT_EQ(right, 20u);
}

TEST(ThreadPool, RefusesCoresThatTheProcessMayNotUse) {
  const int absent = 1000;
  try {
    ThreadPool pool({.name = "far", .num_threads = 1, .cores = {usable_cores()[0], absent}});
    ADD_FAILURE() << "bound to core " << absent;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find("pool 'far' to cores"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace emplace
