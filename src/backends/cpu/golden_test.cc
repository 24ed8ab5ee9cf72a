// Calls with what TensorFlow answers, from tests/golden/*_kernels*.txt.
#include <set>

#include <gtest/gtest.h>

#include "backends/cpu/codecs.h"
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_testutil.h"
#include "backends/cpu/golden_testutil.h"
#include "op/op_def.h"

namespace emplace::cpu {
namespace {

// A fresh variable that holds `value`, as a handle.
Tensor variable_with(const Tensor& value) {
  static int number = 0;
  const AttrList attrs = {{"dtype", value.dtype()}, {"shape", value.shape()}};
  const Tensor handle =
      kernels().run("VarHandleOp", {}, attrs, "v" + std::to_string(number++))[0];
  kernels().run("AssignVariableOp", {handle, value});
  return handle;
}

void check_after(const GoldenCase& c, const std::vector<Tensor>& handles) {
  for (size_t i = 0; i < c.after.size(); ++i) {
    const AttrList dtype = {{"dtype", c.after[i].dtype()}};
    const Tensor now = kernels().run("ReadVariableOp", {handles[i]}, dtype)[0];
    EXPECT_EQ(difference(now, c.after[i]), "") << c.op << " of line " << c.line;
  }
}

void check(const GoldenCase& c, const std::string& op, double slack) {
  std::vector<Tensor> inputs, got;
  for (const Tensor& value : c.variables) inputs.push_back(variable_with(value));
  const std::vector<Tensor> handles = inputs;
  inputs.insert(inputs.end(), c.inputs.begin(), c.inputs.end());
  try {
    got = kernels().run(op, inputs, c.attrs, op + std::to_string(c.line));
  } catch (const Error& e) {
    EXPECT_EQ(std::string(code_name(e.code())), c.error)
        << op << " of line " << c.line << ": " << e.what();
    return;
  }
  EXPECT_EQ(c.error, "") << op << " of line " << c.line << " should fail";
  if (!c.error.empty()) return;
  if (!c.variables.empty()) check_after(c, handles);
  if (!c.variables.empty() && c.outputs.empty()) return;
  ASSERT_EQ(got.size(), c.outputs.size()) << op;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(difference(got[i], c.outputs[i], slack), "") << op << " of line " << c.line;
}

// An op on resources, and its twin on references where there is one.
void check(const GoldenCase& c, double slack = 1) {
  check(c, c.op, slack);
  if (!c.op.starts_with("Resource")) return;
  const std::string twin = c.op.substr(8);
  if (op_catalogue().find(twin)) check(c, twin, slack);
}

TEST(Golden, KernelsAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases();
  EXPECT_GT(cases.size(), 1600u);
  for (const GoldenCase& c : cases) check(c);
}

TEST(Golden, KernelsOfNetsAndImagesAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases("net_kernels");
  EXPECT_GT(cases.size(), 500u);
  // Sums of hundreds of products round otherwise with each width of the CPU's registers.
  for (const GoldenCase& c : cases) check(c, c.op.starts_with("Conv") ? 4 : 1);
}

// TensorFlow decomposes a matrix of floats in floats, and its digits show it.
TEST(Golden, MatricesAndStringsAsTensorFlow) {
  const auto cases = golden_cases("cpu_kernels_more");
  EXPECT_GT(cases.size(), 700u);
  for (const GoldenCase& c : cases) check(c, 20);
}

TEST(Golden, KernelsOfImportedModelsAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases("imported_kernels");
  EXPECT_GT(cases.size(), 300u);
  for (const GoldenCase& c : cases) check(c, 20);
}

TEST(Golden, FilesAndSoundsAsTensorFlow) {
  const auto cases = golden_cases("file_kernels");
  EXPECT_GT(cases.size(), 100u);
  if (!has_png() || !has_jpeg()) GTEST_SKIP() << "built without libpng or libjpeg";
  for (const GoldenCase& c : cases) check(c, 20);
}

TEST(Golden, RarerKernelsAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases("rare_kernels");
  EXPECT_GT(cases.size(), 100u);
  for (const GoldenCase& c : cases) check(c, 20);
}

// Its answer is not a function of tensors alone: it has state, handles, functions, or only stands in
// graphs. tests/conformance/scenarios_*.py have its cases.
bool needs_no_case(const OpDef& op) {
  auto is_handle = [](const ArgDef& a) {
    return a.is_ref || a.type == DType::kResource || a.type == DType::kVariant;
  };
  for (const auto* args : {&op.inputs, &op.outputs})
    for (const ArgDef& a : *args)
      if (is_handle(a)) return true;
  for (const AttrDef& a : op.attrs)
    if (a.type == AttrType::kFunc) return true;
  static const std::set<std::string> kOps = {
      "Abort", "Const", "HostConst", "ControlTrigger", "Enter", "Exit", "LoopCond", "Merge", "NextIteration",
      "NoOp", "ParallelConcat", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Switch",
      "PyFuncStateless", "TileGrad", "_Arg", "_CheckedPath", "_Retval", "_SwitchN",
      // TensorFlow has these, but no kernel that could be asked.
      "AccumulateNV2", "BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad",
      "Conv2DBackpropFilterV2", "Conv2DBackpropInputV2", "Conv3DBackpropFilter",
      "Conv3DBackpropInput", "MaxPoolGradGradWithArgmax", "RandomPoisson", "SegmentSumV2",
      "SegmentProdV2", "SegmentMaxV2", "SegmentMinV2", "Snapshot"};
  return op.stateful || op.name.starts_with("TensorArray") || kOps.contains(op.name);
}

// A new row needs cases in tests/golden, made by TensorFlow, and no new code.
TEST(Golden, EveryOpWithAKernelHasCases) {
  std::set<std::string> covered;
  for (const char* file : {"cpu_kernels", "cpu_kernels_more", "net_kernels", "imported_kernels",
                           "file_kernels", "rare_kernels"})
    for (const GoldenCase& c : golden_cases(file)) {
      covered.insert(c.op);
      if (c.op.starts_with("Resource")) covered.insert(c.op.substr(8));
    }
  KernelRegistry registry;
  register_cpu_kernels(registry);
  for (const std::string& op : registry.ops())
    EXPECT_TRUE(covered.contains(op) || needs_no_case(op_catalogue().get(op)))
        << op << " has no case";
}

}  // namespace
}  // namespace emplace::cpu
