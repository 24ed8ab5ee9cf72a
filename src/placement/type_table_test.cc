#include "placement/type_table.h"

#include "placement/placement_testutil.h"

namespace emplace::placement {
namespace {

using placement_test::fake_devices;

class Types : public ::testing::Test {
 protected:
  int set(std::vector<Support> types) { return table.intern(std::span<const Support>(types)); }
  std::string text(int set) {
    std::string out;
    for (const RankedType& t : table[set]) {
      out += (out.empty() ? "" : " ") + table.name(t.type);
      if (t.priority) out += ":" + std::to_string(t.priority);
    }
    return out;
  }
  std::vector<DeviceInfo> devices = fake_devices(1);
  TypeTable table{devices};
};

TEST_F(Types, SortByKernelPriorityThenTypeThenName) {
  EXPECT_EQ(text(table.all()), "GPU CPU XLA_CPU");
  EXPECT_EQ(text(set({{"CPU", 2}, {"GPU", 1}})), "CPU:2 GPU:1");
  EXPECT_EQ(set({{"CPU", 0}, {"GPU", 0}}), set({{"GPU", 0}, {"CPU", 0}}));
}

TEST_F(Types, TypesWithoutDevicesAndRepetitionsAreLeftOut) {
  EXPECT_EQ(text(set({{"TPU", 0}, {"CPU", 0}, {"CPU", 3}})), "CPU");
  EXPECT_EQ(set({{"TPU", 0}}), TypeTable::kNone);
}

TEST_F(Types, IntersectionKeepsThePrioritiesOfTheSideThatHasSome) {
  const int plain = set({{"CPU", 0}, {"GPU", 0}}), cpu_first = set({{"CPU", 2}, {"GPU", 1}});
  EXPECT_EQ(table.intersect(plain, cpu_first), cpu_first);
  EXPECT_EQ(table.intersect(cpu_first, plain), cpu_first);
  EXPECT_EQ(text(table.intersect(cpu_first, set({{"GPU", 0}}))), "GPU:1");
}

TEST_F(Types, IntersectionOfOpposedPrioritiesHasNone) {
  const int cpu_first = set({{"CPU", 2}, {"GPU", 1}}), gpu_first = set({{"CPU", 1}, {"GPU", 2}});
  EXPECT_EQ(text(table.intersect(cpu_first, gpu_first)), "GPU CPU");
  EXPECT_EQ(text(table.intersect(gpu_first, set({{"CPU", 3}, {"GPU", 9}}))), "GPU:2 CPU:1");
}

TEST_F(Types, NothingInCommonIsNone) {
  EXPECT_EQ(table.intersect(set({{"CPU", 0}}), set({{"GPU", 0}})), TypeTable::kNone);
}

TEST_F(Types, XlaIsLeftOutUnlessNothingElseIsLeft) {
  EXPECT_EQ(text(table.without_xla(table.all())), "GPU CPU");
  const int only = set({{"XLA_CPU", 0}});
  EXPECT_EQ(table.without_xla(only), only);
  EXPECT_EQ(text(table.only(table.all(), "CPU")), "CPU");
  EXPECT_EQ(table.only(only, "CPU"), TypeTable::kNone);
}

TEST_F(Types, ListPrintsInOrder) {
  EXPECT_EQ(table.list(table.all(), ", "), "GPU, CPU, XLA_CPU");
  EXPECT_EQ(table.list(TypeTable::kNone, ", "), "");
}

}  // namespace
}  // namespace emplace::placement
