#include "base/free_memory.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace emplace {
namespace {

class FreeMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "free_memory_" + std::to_string(getpid());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

constexpr char kMachine[] = "MemTotal: 9000 kB\nMemAvailable:   4000 kB\nSwapFree: 96 kB\n";

TEST_F(FreeMemory, IsNotKnownWithoutFiles) { EXPECT_FALSE(free_memory(root_)); }

TEST_F(FreeMemory, IsWhatTheMachineCanSpare) {
  write("/proc/meminfo", kMachine);
  EXPECT_EQ(free_memory(root_), 4096u * 1024);
}

TEST_F(FreeMemory, IsLessInAGroupThatGrantsLess) {
  write("/proc/meminfo", kMachine);
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/b/memory.current", "100\n");
  write("/sys/fs/cgroup/a/memory.max", "2000000\n");
  write("/sys/fs/cgroup/a/memory.current", "900000\n");
  write("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 100000\n");
  EXPECT_EQ(free_memory(root_), 1200000u);
}

TEST_F(FreeMemory, IsNothingInAFullGroupOfVersion1) {
  write("/proc/meminfo", kMachine);
  write("/proc/self/cgroup", "9:memory:/docker/x\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "500\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "700\n");
  EXPECT_EQ(free_memory(root_), 0u);
}

TEST(FreeMemoryHere, IsSomething) {
  const auto bytes = free_memory();
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(*bytes, 0u);
}

}  // namespace
}  // namespace emplace
