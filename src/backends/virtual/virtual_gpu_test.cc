#include "backends/virtual/virtual_gpu.h"

#include <gtest/gtest.h>

#include <atomic>

namespace emplace {
namespace {

VirtualGpuOptions megabytes(int64_t n) {
  VirtualGpuOptions o;
  o.memory = n << 20;
  return o;
}

TEST(VirtualGpu, LooksLikeAGpu) {
  const VirtualGpu gpu(1, 3, megabytes(8));
  EXPECT_EQ(gpu.name(), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(gpu.type(), "GPU");
  EXPECT_EQ(gpu.description(), "device: 3, name: Virtual GPU, pci bus id: 0000:04:00.0");
  EXPECT_EQ(gpu.memory_limit(), 8 << 20);
  EXPECT_TRUE(gpu.is_async());
}

TEST(VirtualGpu, AFractionIsOfItsMemory) {
  VirtualGpuOptions o = megabytes(8);
  o.memory_fraction = 0.25;
  EXPECT_EQ(VirtualGpu(0, 0, o).memory_limit(), 2 << 20);
  o.memory_fraction = 1.5;
  EXPECT_THROW(VirtualGpu(0, 0, o), Error);
}

TEST(VirtualGpu, MemoryIsItsOwnAndLimited) {
  VirtualGpu a(0, 0, megabytes(1)), b(1, 1, megabytes(1));
  const BufferPtr mine = a.allocate(1000, "x");
  EXPECT_EQ(mine->device(), &a);
  EXPECT_TRUE(a.owns(mine->data()));
  EXPECT_FALSE(b.owns(mine->data()));
  EXPECT_GE(a.memory_stats().in_use, 1000);
  EXPECT_EQ(b.memory_stats().in_use, 0);
  try {
    a.allocate(2 << 20, "large");
    ADD_FAILURE() << "more than it has";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
  }
}

TEST(VirtualGpu, GrowthStartsSmall) {
  VirtualGpuOptions o = megabytes(64);
  VirtualGpu at_once(0, 0, o);
  o.allow_growth = true;
  VirtualGpu growing(1, 1, o);
  const BufferPtr x = at_once.allocate(256, "x"), y = growing.allocate(256, "y");
  EXPECT_GT(at_once.memory_stats().reserved, 32 << 20);
  EXPECT_LT(growing.memory_stats().reserved, 32 << 20);
}

TEST(VirtualGpu, IsSharedWhileItLives) {
  auto first = VirtualGpu::get(7, 7, megabytes(2));
  EXPECT_EQ(VirtualGpu::get(7, 7, megabytes(4)), first);
  EXPECT_EQ(first->memory_limit(), 2 << 20);
  first.reset();
  EXPECT_EQ(VirtualGpu::get(7, 7, megabytes(4))->memory_limit(), 4 << 20);
}

struct Log {
  std::mutex mutex;
  std::vector<uint64_t> seen;
  static void add(void* log, uint64_t n) {
    Log& l = *static_cast<Log*>(log);
    const std::lock_guard lock(l.mutex);
    l.seen.push_back(n);
  }
};

TEST(VirtualQueue, RunsInOrderAlsoWhenItsRingGrows) {
  VirtualQueue q("test");
  Log log;
  for (uint64_t i = 0; i < 1000; ++i) q.submit(&Log::add, &log, i);
  q.drain();
  ASSERT_EQ(log.seen.size(), 1000u);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(log.seen[i], i);
}

TEST(VirtualQueue, AWaitHoldsWhatFollowsUntilTheEventIsRecorded) {
  VirtualQueue first("a"), second("b");
  const auto event = first.make_event();
  Log log;
  second.wait(*event, 5);
  second.submit(&Log::add, &log, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(log.seen.empty());
  first.submit(&Log::add, &log, 1);
  first.record(*event, 5);
  second.drain();
  EXPECT_EQ(log.seen, (std::vector<uint64_t>{1, 2}));
  second.wait(*event, 4);  // long past
  second.submit(&Log::add, &log, 3);
  second.drain();
  EXPECT_EQ(log.seen.size(), 3u);
}

TEST(VirtualQueue, SubmitReturnsAtOnce) {
  VirtualQueue q("test");
  std::atomic<bool> go{false};
  const Queue::Fn wait = [](void* flag, uint64_t) {
    static_cast<std::atomic<bool>*>(flag)->wait(false);
  };
  q.submit(wait, &go, 0);
  go = true;  // reached, though the call has not ended
  go.notify_all();
  q.drain();
}

}  // namespace
}  // namespace emplace
