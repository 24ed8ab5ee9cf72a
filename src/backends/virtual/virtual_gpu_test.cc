#include "backends/virtual/virtual_gpu.h"

#include <gtest/gtest.h>

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

TEST(VirtualGpu, CopiesWithinItsMemory) {
  VirtualGpu gpu(0, 0, megabytes(1));
  const BufferPtr from = gpu.allocate(8, "from"), to = gpu.allocate(8, "to");
  const float values[] = {1.5f, -2.f};
  float back[] = {0, 0};
  gpu.copy(from->data(), values, 8);
  gpu.copy(to->data(), from->data(), 8);
  gpu.copy(back, to->data(), 8);
  EXPECT_EQ(back[0], 1.5f);
  EXPECT_EQ(back[1], -2.f);
  EXPECT_NE(from->data(), to->data());
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

}  // namespace
}  // namespace emplace
