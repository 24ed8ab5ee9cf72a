// Calls with what TensorFlow answers, on a virtual GPU: the same table, another device.
#include <gtest/gtest.h>

#include "backends/cpu/golden_testutil.h"
#include "emplace/eager.h"
#include "graph/removed_ops.h"
#include "session/runtime.h"

namespace emplace {
namespace {

constexpr const char* kGpu = "/device:GPU:0";

SessionOptions with_gpu() {
  SessionOptions options;
  options.virtual_gpus = 1;
  options.allow_soft_placement = false;
  return options;
}

bool runs_on_gpu(const cpu::GoldenCase& c) {
  const OpDef& op = op_catalogue().get(c.op);
  try {
    check_not_removed(c.op, GraphVersions{}.producer);
  } catch (const Error&) {
    return false;  // nobody may call it any more; old graphs run it
  }
  if (!c.variables.empty() || op.stateful) return false;  // streams would go on from case to case
  std::vector<DType> types;
  for (const Tensor& t : c.inputs) types.push_back(t.dtype());
  try {
    return kernel_table(with_gpu()).find(c.op, "GPU", complete_attrs(op, types, c.attrs));
  } catch (const Error&) {
    return false;
  }
}

void check(Eager& eager, const cpu::GoldenCase& c, double slack) {
  std::vector<Tensor> got;
  try {
    for (const Tensor& t : eager.execute(c.op, c.inputs, c.attrs, kGpu))
      got.push_back(eager.to_host(t));
  } catch (const Error& e) {
    EXPECT_EQ(std::string(code_name(e.code())), c.error) << c.op << " of line " << c.line;
    return;
  }
  ASSERT_EQ(got.size(), c.outputs.size()) << c.op << " of line " << c.line;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(cpu::difference(got[i], c.outputs[i], slack), "") << c.op << " of line " << c.line;
}

TEST(Conformance, AVirtualGpuAnswersAsTensorFlowDoes) {
  Eager eager(with_gpu());
  int calls = 0;
  for (const char* file : {"cpu_kernels", "cpu_kernels_more", "net_kernels", "rare_kernels"})
    for (const auto& c : cpu::golden_cases(file))
      if (runs_on_gpu(c)) {
        check(eager, c, 20);
        ++calls;
      }
  EXPECT_GT(calls, 600);
}

}  // namespace
}  // namespace emplace
