// Calls with what TensorFlow answers, from tests/golden/*_kernels.txt.
#include <gtest/gtest.h>

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

void check(const GoldenCase& c, const std::string& op) {
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
  if (!c.variables.empty()) return check_after(c, handles);
  ASSERT_EQ(got.size(), c.outputs.size()) << op;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(difference(got[i], c.outputs[i]), "") << op << " of line " << c.line;
}

// An op on resources, and its twin on references where there is one.
void check(const GoldenCase& c) {
  check(c, c.op);
  if (!c.op.starts_with("Resource")) return;
  const std::string twin = c.op.substr(8);
  if (op_catalogue().find(twin)) check(c, twin);
}

TEST(Golden, KernelsAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases(EMPLACE_SOURCE_DIR);
  EXPECT_GT(cases.size(), 1600u);
  for (const GoldenCase& c : cases) check(c);
}

TEST(Golden, KernelsOfNetsAndImagesAnswerAsTensorFlowDoes) {
  const auto cases = golden_cases(EMPLACE_SOURCE_DIR, "net_kernels");
  EXPECT_GT(cases.size(), 500u);
  for (const GoldenCase& c : cases) check(c);
}

}  // namespace
}  // namespace emplace::cpu
