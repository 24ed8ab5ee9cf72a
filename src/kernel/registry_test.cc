#include <gtest/gtest.h>

#include "kernel/gpu_table.h"
#include "kernel/kernel.h"
#include "op/op_def.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

Prepared none(const KernelInit&) { return {}; }
Prepared other(const KernelInit&) { return {}; }

KernelRow row(const char* op, const char* device, std::vector<TypeConstraint> types,
              KernelFactory make = none, int priority = 0) {
  return {op, device, std::move(types), {}, make, {}, priority, ""};
}

TEST(KernelRegistry, FindsTheRowWhoseDtypesMatch) {
  KernelRegistry r;
  r.add(row("Neg", "CPU", {{"T", {DType::kFloat}}}));
  r.add(row("Neg", "CPU", {{"T", {DType::kInt32}}}, other));
  const KernelRow* found = r.find("Neg", "CPU", {{"T", DType::kInt32}});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->make, other);
  EXPECT_EQ(r.find("Neg", "CPU", {{"T", DType::kString}}), nullptr);
  EXPECT_EQ(r.find("Neg", "GPU", {{"T", DType::kFloat}}), nullptr);
  EXPECT_EQ(r.find("Nag", "CPU", {{"T", DType::kFloat}}), nullptr);
}

TEST(KernelRegistry, PrefersTheHigherPriority) {
  KernelRegistry r;
  r.add(row("Neg", "CPU", {}));
  r.add(row("Neg", "CPU", {}, other, 1));
  EXPECT_EQ(r.find("Neg", "CPU", {})->make, other);
}

TEST(KernelRegistry, AListOfTypesMeetsAConstraintOnlyAsAWhole) {
  KernelRegistry r;
  r.add(row("IdentityN", "CPU", {{"T", {DType::kFloat, DType::kInt32}}}));
  using List = std::vector<DType>;
  EXPECT_NE(r.find("IdentityN", "CPU", {{"T", List{DType::kFloat, DType::kInt32}}}), nullptr);
  EXPECT_EQ(r.find("IdentityN", "CPU", {{"T", List{DType::kFloat, DType::kBool}}}), nullptr);
}

TEST(KernelRegistry, ListsRowsAsPlacementErrorsShowThem) {
  KernelRegistry r;
  r.add(row("Neg", "CPU", {{"T", {DType::kFloat, DType::kDouble}}}));
  EXPECT_EQ(r.list("Neg"), "  device='CPU'; T in [DT_FLOAT, DT_DOUBLE]\n");
  EXPECT_EQ(r.list("Nag"), "  <no registered kernels>\n");
}

TEST(GpuTable, EveryLineParses) {
  EXPECT_GT(gpu_table().size(), 400u);
  for (const GpuRow& r : gpu_table()) {
    EXPECT_FALSE(r.op.empty());
    for (const TypeConstraint& t : r.types) EXPECT_FALSE(t.allowed.empty()) << r.op;
  }
}

TEST(GpuTable, GpuRowsAreTheIntersectionWithTheHostArgumentsOfTheTable) {
  KernelRegistry cpu;
  cpu.add(row("AddV2", "CPU", {{"T", {DType::kFloat, DType::kInt32}}}));
  cpu.add(row("StringJoin", "CPU", {}));
  KernelRegistry gpu;
  for (KernelRow& r : gpu_rows(cpu, "CPU")) gpu.add(std::move(r));
  EXPECT_EQ(gpu.find("AddV2", "GPU", {{"T", DType::kFloat}})->host_args.size(), 0u);
  EXPECT_EQ(gpu.find("AddV2", "GPU", {{"T", DType::kInt32}})->host_args,
            (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(gpu.find("AddV2", "GPU", {{"T", DType::kDouble}}), nullptr);
  EXPECT_TRUE(gpu.rows("StringJoin").empty());
}

TEST(GpuTable, AnInt32VariableHasNoGpuKernel) {
  KernelRegistry cpu, gpu;
  cpu.add(row("VariableV2", "CPU", {}));
  for (KernelRow& r : gpu_rows(cpu, "CPU")) gpu.add(std::move(r));
  EXPECT_NE(gpu.find("VariableV2", "GPU", {{"dtype", DType::kFloat}}), nullptr);
  EXPECT_EQ(gpu.find("VariableV2", "GPU", {{"dtype", DType::kInt32}}), nullptr);
}

TEST(KernelInit, FindsOnlyWhatItsOperationDeclares) {
  OpRegistry ops;
  const OpRow rows[] = {{"Crop(x: T) -> (y: T) | T: type; size: int = 3", shape_rules::unchanged,
                         cost_rules::cheap, ""}};
  ops.add(rows);
  const AttrList attrs = {{"T", DType::kFloat}, {"size", 5}, {"stride", 7}};
  KernelInit init;
  init.op = &ops.get("Crop");
  init.attrs = &attrs;
  ASSERT_NE(init.find("size"), nullptr);
  EXPECT_EQ(init.find("size")->as<int64_t>(), 5);
  EXPECT_EQ(init.find("stride"), nullptr);
  EXPECT_EQ(init.find("offset"), nullptr);
}

TEST(Cancellation, CallsBackOnceAndAtOnceWhenAlreadyCancelled) {
  Cancellation c;
  int calls = 0;
  c.add([&] { ++calls; });
  const uint64_t removed = c.add([&] { calls += 100; });
  EXPECT_TRUE(c.remove(removed));
  c.cancel();
  c.cancel();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(c.remove(removed));
  c.add([&] { ++calls; });
  EXPECT_EQ(calls, 2);
  c.reset();
  EXPECT_FALSE(c.cancelled());
}

}  // namespace
}  // namespace emplace
