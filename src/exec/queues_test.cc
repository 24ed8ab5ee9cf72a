#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

using testing::StepGraphMaker;

// Has queues by number only.
class Gpu final : public Device {
 public:
  Gpu() : Device(name_of_gpu(), "", 0) {}
  int num_queues() const override { return 2; }
  BufferPtr allocate(size_t, std::string_view) override { return {}; }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void*, const void*, size_t) override {}
  ThreadPool& inter_op() override { return pool_; }
  ThreadPool& intra_op() override { return pool_; }
  bool owns(const void*) const override { return false; }

 private:
  static DeviceName name_of_gpu() {
    DeviceName name = DeviceName::of_task("localhost", 0, 0);
    name.type = "GPU";
    name.id = 0;
    return name;
  }
  ThreadPool pool_{ThreadPool::Options{}};
};

class QueuesTest : public ::testing::Test {
 protected:
  QueuesTest() { m.g.devices = {&gpu}; }
  int on_gpu(std::vector<Port> inputs) {
    const int s = m.add(std::move(inputs), 16, {}, 1);
    m.g.steps[s].device = &gpu;
    return s;
  }
  int copy(Port from, Space to) {
    const int s = on_gpu({from});
    m.g.steps[s].kind = StepKind::kCopy;
    m.g.steps[s].outputs[0].space = to;
    return s;
  }
  int queue(int step) const { return m.g.steps[step].queue; }
  Gpu gpu;
  StepGraphMaker m;
};

TEST_F(QueuesTest, AChainStaysOnItsQueue) {
  const int a = on_gpu({}), b = on_gpu({{a, 0}}), c = on_gpu({{b, 0}});
  assign_queues(m.g);
  EXPECT_GE(queue(a), 0);
  EXPECT_EQ(queue(b), queue(a));
  EXPECT_EQ(queue(c), queue(a));
}

TEST_F(QueuesTest, IndependentStepsGetDifferentQueues) {
  const int a = on_gpu({}), b = on_gpu({});
  assign_queues(m.g);
  EXPECT_NE(queue(a), queue(b));
}

TEST_F(QueuesTest, CopiesHaveQueuesOfTheirOwn) {
  const int host = m.add({});
  const int in = copy({host, 0}, 1), work = on_gpu({{in, 0}}), out = copy({work, 0}, kHostSpace);
  assign_queues(m.g);
  EXPECT_EQ(queue(in), copy_queues(gpu).copy_in);
  EXPECT_EQ(queue(out), copy_queues(gpu).copy_out);
  EXPECT_LT(queue(work), gpu.num_queues());
  EXPECT_EQ(queue(host), -1);
}

TEST_F(QueuesTest, StepsOfOneQueueKeepTheirOrder) {
  const int a = on_gpu({}), b = on_gpu({}), c = on_gpu({});  // a and c share a queue
  assign_queues(m.g);
  EXPECT_NE(queue(a), queue(b));
  ASSERT_EQ(queue(c), queue(a));
  EXPECT_EQ(m.g.steps[c].controls, std::vector<int>{a});
}

TEST_F(QueuesTest, AStepWithHostMemoryOnlyRunsOnAHostThread) {
  const int s = on_gpu({});
  m.g.steps[s].outputs[0].space = kHostSpace;
  assign_queues(m.g);
  EXPECT_EQ(queue(s), -1);
}

TEST_F(QueuesTest, ASumOfListsRunsWhereTheirElementsLie) {
  const auto list = [&](std::vector<Port> inputs) {
    const int s = on_gpu(std::move(inputs));
    m.g.steps[s].outputs[0].dtype = DType::kVariant;
    m.g.steps[s].outputs[0].space = kHostSpace;
    return s;
  };
  const int empty = list({}), sum = list({{empty, 0}, {empty, 0}});
  const int length = on_gpu({{sum, 0}});
  m.g.steps[length].outputs[0].space = kHostSpace;
  assign_queues(m.g);
  EXPECT_EQ(queue(empty), -1);
  EXPECT_GE(queue(sum), 0);
  EXPECT_EQ(queue(length), -1);
}

}  // namespace
}  // namespace emplace
