// The golden calls on a virtual GPU, as far as TensorFlow runs them on a GPU.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "backends/cpu/golden_testutil.h"
#include "emplace/emplace.h"
#include "graph/removed_ops.h"
#include "host_side_calls_testutil.h"
#include "session/runtime.h"

namespace emplace {
namespace {

bool is_removed(const std::string& op) {
  try {
    check_not_removed(op, std::numeric_limits<int>::max());
    return false;
  } catch (const Error&) {
    return true;
  }
}

SessionOptions one_gpu() {
  SessionOptions o;
  o.virtual_gpus = 1;
  return o;
}

TEST(VirtualGpu, GoldenCallsGiveTensorFlowsAnswers) {
  Eager eager(one_gpu());
  const KernelRegistry& kernels = kernel_table(one_gpu());
  std::set<std::string> ops;
  for (const auto& [file, slack] : std::initializer_list<std::pair<const char*, double>>{
           {"cpu_kernels", 8}, {"cpu_kernels_more", 100}, {"rare_kernels", 100}, {"imported_kernels", 100}})
    for (const cpu::GoldenCase& c : cpu::golden_cases(file)) {
      if (!c.error.empty() || is_removed(c.op)) continue;
      SCOPED_TRACE(c.op + " of line " + std::to_string(c.line));
      try {
        eager.restart_random();
        std::vector<Tensor> inputs;
        std::vector<DType> types;
        for (const Tensor& value : c.variables) {
          const AttrList attrs = {{"dtype", value.dtype()},
                                  {"shape", value.shape()},
                                  {"shared_name", std::to_string(c.line) + "_" + std::to_string(inputs.size())}};
          if (!kernels.find("VarHandleOp", "GPU", attrs)) break;
          inputs.push_back(eager.execute("VarHandleOp", {}, attrs, "/gpu:0")[0]);
          eager.execute("AssignVariableOp", std::vector<Tensor>{inputs.back(), value}, {}, "/gpu:0");
        }
        if (inputs.size() != c.variables.size()) continue;
        inputs.insert(inputs.end(), c.inputs.begin(), c.inputs.end());
        for (const Tensor& t : inputs) types.push_back(t.dtype());
        const AttrList attrs = complete_attrs(op_catalogue().get(c.op), types, c.attrs);
        if (!kernels.find(c.op, "GPU", attrs)) continue;
        const auto got = eager.execute(c.op, inputs, c.attrs, "/gpu:0");
        ops.insert(c.op);
        for (size_t i = 0; i < c.outputs.size() && i < got.size(); ++i)
          EXPECT_EQ(cpu::difference(eager.to_host(got[i]), c.outputs[i], slack), "");
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
    }
  EXPECT_GT(ops.size(), 350u);
  for (const char* op :
       {"BlockLSTM", "BlockLSTMGradV2", "GRUBlockCell", "LSTMBlockCellGrad", "SparseConcat", "SparseReorder",
        "SparseReshape", "SparseSlice", "SparseSliceGrad", "SparseSplit", "SparseFillEmptyRows",
        "SparseFillEmptyRowsGrad", "RaggedFillEmptyRows", "StatefulUniform", "StatefulUniformInt", "RngSkip",
        "QuantizeAndDequantizeV4Grad", "Copy", "CopyHost"})
    EXPECT_TRUE(ops.contains(op)) << op;
}

TEST(VirtualGpu, WhatOnlyTheHostTouches) {
  Eager eager(one_gpu());
  host_side_calls(eager);
}

// A stream can't wait for a queue: what may wait runs on a thread of the host.
TEST(VirtualGpu, QueuesOnAGpuWaitForEachOther) {
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const AttrList floats = {{"component_types", std::vector<DType>{DType::kFloat}}};
  const Output queue = g.add("FIFOQueueV2", {}, floats)->output();
  const Output out = g.add("QueueDequeueV2", {queue}, floats)->output() + constant(1.f);
  Node* const put = g.add("QueueEnqueueV2", {queue, constant(2.f) * constant(3.f)});
  Session s(g, one_gpu());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(s.run({}, std::vector<Output>{out}, std::vector<Node*>{put})[0].item<float>(), 7.f);
}

// Graphs of older producers have these; TensorFlow runs them on GPUs alone.
TEST(VirtualGpu, RunsTheOlderFourierTransforms) {
  Tensor x(DType::kComplex64, Shape{2, 3, 4, 5});
  for (int64_t i = 0; i < 240; ++i) static_cast<float*>(x.raw())[i] = static_cast<float>(i * 31 % 17) - 8.f;
  for (const std::string name : {"FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"}) {
    Graph g;
    import_graph_def_text(g, "versions { producer: 1 }");
    const Scope in = g.as_default();
    Node* const old = g.add("Batch" + name, {constant(x)});
    Session s(g, one_gpu());
    EXPECT_EQ(cpu::difference(s.run(old->output()), s.run(g.add(name, {constant(x)})->output()), 0), "") << name;
  }
}

}  // namespace
}  // namespace emplace
