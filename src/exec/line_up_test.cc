#include "exec/line_up.h"

#include <gtest/gtest.h>

#include "exec/memory_plan.h"
#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

constexpr int64_t kElements = 1 << 19;  // of floats: 2 MiB
constexpr int64_t kBytes = 4 * kElements;
constexpr int kLong = 40;

// Without threads of its own.
class Cpu final : public Device {
 public:
  Cpu() : Device(name_of_cpu(), "", 0) {}
  BufferPtr allocate(size_t, std::string_view) override { return {}; }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void*, const void*, size_t) override {}
  ThreadPool& inter_op() override { return pool_; }
  ThreadPool& intra_op() override { return pool_; }
  bool owns(const void*) const override { return false; }

 private:
  static DeviceName name_of_cpu() {
    DeviceName name = DeviceName::of_task("localhost", 0, 0);
    name.type = "CPU";
    name.id = 0;
    return name;
  }
  ThreadPool pool_{ThreadPool::Options{}};
};

// A long chain whose every value somebody else takes too, who is in no hurry.
class LineUp : public ::testing::Test {
 protected:
  int add(std::vector<Port> inputs, int64_t elements, KernelTraits traits = {}) {
    const int i = m.add(std::move(inputs), elements, traits);
    m.g.steps[i].device = &cpu;
    return i;
  }
  void add_chain(int64_t elements) {
    int last = add({}, elements);
    for (int i = 1; i < kLong; ++i) {
      late.push_back(add({{last, 0}}, 16));
      last = add({{last, 0}}, elements);
    }
  }
  int64_t arena() { return plan_memory(m.g, Order(m.g), Users(m.g)).arena_bytes[kHostSpace]; }
  size_t waits() const {
    size_t sum = 0;
    for (const Step& s : m.g.steps) sum += s.controls.size();
    return sum;
  }
  Cpu cpu;
  testing::StepGraphMaker m;
  std::vector<int> late;
};

TEST_F(LineUp, KeepsOfALongChainOnlyWhatTheLastFewTake) {
  add_chain(kElements);
  EXPECT_GE(arena(), (kLong - 1) * kBytes);
  line_up(m.g);
  EXPECT_LE(arena(), 6 * kBytes);
}

TEST_F(LineUp, EachWaitsForAllButTheLastFewAndNoneIsBound) {
  add_chain(kElements);
  line_up(m.g);
  const Order order(m.g);
  for (size_t k = 4; k < late.size(); ++k) {
    EXPECT_TRUE(order.before(late[k - 4], late[k]));
    EXPECT_FALSE(order.before(late[k], late[k] + 1));  // two threads have work
  }
}

TEST_F(LineUp, LeavesSmallGraphsAlone) {
  add_chain(16);
  add({}, kElements);
  line_up(m.g);
  EXPECT_EQ(waits(), 0u);
}

TEST_F(LineUp, LeavesStepsAloneThatMayWaitForOthers) {
  add_chain(kElements);
  add({}, 16, {.blocks = true});
  line_up(m.g);
  EXPECT_EQ(waits(), 0u);
}

}  // namespace
}  // namespace emplace
