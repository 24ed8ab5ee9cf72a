#include "exec/program.h"

#include <gtest/gtest.h>

#include "exec/instance.h"

namespace emplace {
namespace {

// `size` instructions of `ns` each, in a line or beside each other.
void fill(Program& p, size_t size, uint32_t ns, bool in_line) {
  p.in_order_only_possible = true;
  p.calls.resize(size);
  p.wiring.resize(size);
  p.cost_ns = std::vector<std::atomic<uint32_t>>(size);
  for (size_t i = 0; i < size; ++i) {
    p.cost_ns[i] = ns;
    if (!in_line || i + 1 == size) continue;
    p.wiring[i].successors = static_cast<uint32_t>(p.successors.size());
    p.wiring[i].num_released = 1;
    p.successors.push_back(static_cast<uint32_t>(i + 1));
  }
}

Program::Mode mode_after_measuring(Program& p) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(p.mode(2), Program::Mode::kMeasure);
    p.learned();
  }
  return p.mode(2);
}

TEST(ProgramMode, QueuesAndOtherDevicesNeedAParallelRun) {
  Program p;
  fill(p, 4, 100, false);
  p.in_order_only_possible = false;
  EXPECT_EQ(p.mode(1), Program::Mode::kParallel);
}

TEST(ProgramMode, OneWorkerRunsInOrder) {
  Program p;
  fill(p, 4, 1'000'000, false);
  EXPECT_EQ(p.mode(1), Program::Mode::kInOrder);
}

TEST(ProgramMode, SmallWorkIsRunInOrder) {
  Program p;
  fill(p, 10, 100, false);
  EXPECT_EQ(mode_after_measuring(p), Program::Mode::kInOrder);
}

TEST(ProgramMode, LargeIndependentWorkIsRunInParallel) {
  Program p;
  fill(p, 10, 100'000, false);
  EXPECT_EQ(mode_after_measuring(p), Program::Mode::kParallel);
}

TEST(ProgramMode, LargeWorkInOneLineIsRunInOrder) {
  Program p;
  fill(p, 10, 100'000, true);
  EXPECT_EQ(mode_after_measuring(p), Program::Mode::kInOrder);
}

TEST(ProgramInstances, AreLeasedAgain) {
  Program p;
  auto first = p.lease();
  const Instance* const address = first.get();
  p.give_back(std::move(first));
  auto again = p.lease();
  EXPECT_EQ(again.get(), address);
  EXPECT_NE(p.lease().get(), address);
}

}  // namespace
}  // namespace emplace
