#include "device/bfc_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "device/bfc_testutil.h"

namespace emplace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BfcReport : public ::testing::Test {
 protected:
  BfcAllocator arena_{std::make_unique<HostSubAllocator>(),
                      {.name = "GPU_0_bfc",
                       .device = "/job:localhost/replica:0/task:0/device:GPU:0",
                       .limit = 8 * kMiB}};
};

TEST(HumanBytes, ReadAsTensorFlowWritesThem) {
  EXPECT_EQ(human_bytes(0), "0B");
  EXPECT_EQ(human_bytes(1023), "1023B");
  EXPECT_EQ(human_bytes(1024), "1.0KiB");
  EXPECT_EQ(human_bytes(1536), "1.5KiB");
  EXPECT_EQ(human_bytes(kMiB), "1.00MiB");
  EXPECT_EQ(human_bytes(int64_t{5} << 30), "5.00GiB");
  EXPECT_EQ(human_bytes(-2048), "-2.0KiB");
  EXPECT_EQ(human_bytes(INT64_MAX), "8.00EiB");
}

TEST_F(BfcReport, HoldersAreSummedByNodeLargestFirst) {
  arena_.allocate(kMiB, "b");
  arena_.allocate(3 * kMiB, "a");
  arena_.deallocate(arena_.allocate(kMiB, "gone"));
  arena_.allocate(kMiB / 2, "b");
  const auto all = holders(arena_.snapshot());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tag, "a");
  EXPECT_EQ(all[0].bytes, 3 * kMiB);
  EXPECT_EQ(all[1].tag, "b");
  EXPECT_EQ(all[1].bytes, kMiB + kMiB / 2);
  EXPECT_EQ(all[1].allocations, 2u);
}

TEST_F(BfcReport, OutOfMemoryNamesTheTensorAndWhoHoldsWhat) {
  arena_.allocate(2 * kMiB, "tower_0/weights");
  arena_.allocate(kMiB, "MatMul");
  const Error error = arena_.out_of_memory(Shape({2, 3}), DType::kFloat);
  EXPECT_EQ(error.code(), Code::kResourceExhausted);
  EXPECT_EQ(error.message(),
            "OOM when allocating tensor with shape[2,3] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
            "Current usage from device: /job:localhost/replica:0/task:0/device:GPU:0, allocator: "
            "GPU_0_bfc\n"
            "  2.00MiB from tower_0/weights\n"
            "  1.00MiB from MatMul\n"
            "Limit 8.00MiB, in use 3.00MiB; the largest block to be had is 5.00MiB.");
}

TEST_F(BfcReport, AllocateThrowsWithItAndTheArenaWorksOn) {
  arena_.allocate(kMiB, "small");
  try {
    arena_.allocate(8 * kMiB, "big");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_THAT(error.message(), HasSubstr("OOM when allocating 8.00MiB (8388608 bytes) for big"));
    EXPECT_THAT(error.message(), HasSubstr("  1.00MiB from small\n"));
  }
  EXPECT_NE(arena_.allocate(kMiB, "next"), nullptr);
}

TEST_F(BfcReport, SmallHoldersAreCountedTogether) {
  for (int i = 0; i < 4; ++i) arena_.allocate(kMiB, "large");
  for (int i = 0; i < 50; ++i) arena_.allocate(256, "tiny" + std::to_string(i));
  const std::string report = usage_report(arena_);
  EXPECT_THAT(report, HasSubstr("  4.00MiB from large\n  Remaining 50 nodes with 12.5KiB\n"));
  EXPECT_THAT(report, Not(HasSubstr("tiny")));
}

TEST_F(BfcReport, DumpShowsBinsChunksSummaryAndStatistics) {
  void* p = arena_.allocate(300, "first");
  arena_.allocate(kMiB, "second");
  arena_.deallocate(p);
  const std::string dump = allocator_dump(arena_, 16 * kMiB, "MatMul");
  for (const char* part :
       {"Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.00MiB (rounded to "
        "16777216)requested by op MatMul\n",
        "BFCAllocator dump for GPU_0_bfc\n",
        "Bin (512): \tTotal Chunks: 1, Chunks in use: 0. 512B allocated for chunks. 0B in use in "
        "bin. 0B client-requested in use in bin.\n",
        "Bin for 16.00MiB was 16.00MiB, Chunk State: \n", "Next region of size 8388608\n",
        "Free  at ", " of size 512 next 1\n", " of size 1048576 next 2 by second\n",
        "     Summary of in-use Chunks by size: \n1 Chunks of size 1048576 totalling 1.00MiB\n",
        "Sum Total of in-use chunks: 1.00MiB\n",
        "Total size in pool: 8388608 memory_limit_: 8388608 available size: 0 ",
        "Limit:                         8388608\n", "NumAllocs:                           2\n"}) {
    EXPECT_THAT(dump, HasSubstr(part));
  }
}

TEST_F(BfcReport, DumpIsLoggedOnlyWhenInformationIsWanted) {
  for (LogLevel level : {LogLevel::kWarning, LogLevel::kInfo}) {
    set_log_level(level);
    testing::internal::CaptureStderr();
    EXPECT_THROW(arena_.allocate(16 * kMiB, "x"), Error);
    const std::string out = testing::internal::GetCapturedStderr();
    EXPECT_EQ(out.find("BFCAllocator dump") != std::string::npos, level == LogLevel::kInfo);
  }
  set_log_level(LogLevel::kWarning);
}

TEST_F(BfcReport, MapShowsUsedSlackAndFree) {
  EXPECT_EQ(occupancy_map(arena_.snapshot(), 8), "________");
  arena_.allocate(2 * kMiB, "a");
  EXPECT_EQ(occupancy_map(arena_.snapshot(), 8), "**______");
  void* rest = arena_.allocate(4 * kMiB, "b");  // takes all of the 6 MiB that are left
  EXPECT_EQ(occupancy_map(arena_.snapshot(), 8), "******xx");
  arena_.deallocate(rest);
  EXPECT_EQ(occupancy_map(arena_.snapshot(), 8), "**______");
}

}  // namespace
}  // namespace emplace
