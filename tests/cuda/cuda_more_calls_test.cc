// Calls of rarer ops on a card beside the CPU's: older names, sparse tensors, recurrent cells, queues.
#include <thread>

#include "../golden/host_side_calls_testutil.h"
#include "cuda_calls_testutil.h"

namespace emplace {
namespace {

// A graph of an older producer, with one node on each device.
TEST_F(CudaCalls, OlderNames) {
  const auto on = [&](const char* device, const char* op, std::vector<Tensor> inputs, AttrList attrs) {
    Graph g;
    import_graph_def_text(g, "versions { producer: 1 }");
    const Scope in = g.as_default(), there = g.device(device);
    std::vector<Output> given;
    for (Tensor& t : inputs) given.push_back(constant(std::move(t)));
    Node* const node = g.add(op, given, std::move(attrs));
    std::vector<Output> results;
    for (int i = 0; i < node->num_outputs(); ++i) results.push_back(node->output(i));
    Session s(g, growing());
    for (int i = 0; i < 3; ++i) s.run({}, results, {});  // plain, recorded, replayed
    return s.run({}, results, {});
  };
  try {
    const std::vector<Tensor> spectrum = {Tensor(DType::kComplex64, Shape{2, 3, 4, 5})};
    for (int64_t i = 0; i < 240; ++i)
      static_cast<float*>(spectrum[0].raw())[i] = static_cast<float>(i * 31 % 17) - 8.f;
    for (const std::string name : {"FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"}) {
      const Tensor want = eager_.execute(name, spectrum, {}, "/cpu:0")[0];
      const Tensor got = on("/gpu:0", ("Batch" + name).c_str(), spectrum, {})[0];
      EXPECT_EQ(cpu::difference(got, want, 4000), "") << name;
    }
    const AttrList values_only = {{"compute_uv", false}};
    EXPECT_EQ(cpu::difference(on("/gpu:0", "BatchSvd", {numbers({4, 5, 3})}, values_only)[0],
                              eager_.execute("Svd", std::vector<Tensor>{numbers({4, 5, 3})}, values_only,
                                             "/cpu:0")[0],
                              4000),
              "");
    const Tensor x = numbers({3, 7, 5, 4}), mean = numbers({4});
    Tensor variance(DType::kFloat, Shape{4});
    for (int i = 0; i < 4; ++i) variance.data<float>()[i] = 0.5f + static_cast<float>(i);
    for (const bool scale : {true, false}) {
      const AttrList how = {{"variance_epsilon", 0.01f}, {"scale_after_normalization", scale}};
      for (const auto& [op, inputs] : {std::pair<const char*, std::vector<Tensor>>{
                                           "BatchNormWithGlobalNormalization",
                                           {x, mean, variance, numbers({4}), numbers({4})}},
                                       {"BatchNormWithGlobalNormalizationGrad",
                                        {x, mean, variance, numbers({4}), numbers(x.shape())}}}) {
        const auto want = on("/cpu:0", op, inputs, how), got = on("/gpu:0", op, inputs, how);
        for (size_t i = 0; i < want.size(); ++i)
          EXPECT_EQ(cpu::difference(got[i], want[i], 4000), "") << op << " " << i;
      }
    }
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST_F(CudaCalls, DimensionsByTheirLetters) {
  const AttrList how = {{"src_format", "NHWC"}, {"dst_format", "NCHW"}};
  same("DataFormatDimMap", {ints({0, 1, 2, 3, -1, -4})}, how);
  same("DataFormatVecPermute", {ints({7, 4, 9, 3})}, how);
  same("DataFormatVecPermute", {ints({4, 9})}, {{"src_format", "NHWC"}, {"dst_format", "NWCH"}});
  same("DataFormatVecPermute", {Tensor::of<int64_t>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})}, how);
}

// Places in a tensor of [196, 62], in no order, half of the rows without any, none twice.
std::vector<Tensor> scattered(int64_t count) {
  Tensor indices(DType::kInt64, Shape{count, 2});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * 2741 % (97 * 61);
    indices.data<int64_t>()[2 * i] = at / 61 * 2;
    indices.data<int64_t>()[2 * i + 1] = at % 61;
  }
  return {indices, numbers({count}), Tensor::of<int64_t>({196, 62}, {2})};
}

TEST_F(CudaCalls, SparseTensorsMovedAbout) {
  const auto large = scattered(3000), small = scattered(7), none = scattered(0);
  const Tensor& shape = large[2];
  same("SparseReorder", large);
  same("SparseReorder", none);
  same("SparseConcat", {large[0], none[0], small[0], large[1], none[1], small[1], shape, shape, shape},
       {{"concat_dim", -1}, {"N", 3}});
  same("SparseReshape", {large[0], shape, Tensor::of<int64_t>({7, -1, 31}, {3})});
  const Tensor start = Tensor::of<int64_t>({11, 20}, {2}), size = Tensor::of<int64_t>({50, 90}, {2});
  same("SparseSlice", {large[0], large[1], shape, start, size});
  same("SparseSlice", {none[0], none[1], shape, start, size});
  same("SparseSplit", {Tensor::scalar<int64_t>(1), large[0], large[1], shape}, {{"num_split", 5}});
  for (const auto& given : {large, small, none})
    same("SparseFillEmptyRows", {given[0], given[1], shape, Tensor::scalar(-7.f)});
  const auto sorted = eager_.execute("SparseReorder", large, {}, "/cpu:0");
  const auto part = eager_.execute(
      "SparseSlice", std::vector<Tensor>{sorted[0], sorted[1], shape, start, size}, {}, "/cpu:0");
  same("SparseSliceGrad", {numbers(part[1].shape()), sorted[0], start, part[0]});
}

TEST_F(CudaCalls, WhatDoesNotFitIsRefused) {
  const auto refused = [&](const char* op, std::vector<Tensor> inputs) {
    try {
      for (const Tensor& t : eager_.execute(op, inputs, {}, "/gpu:0")) eager_.copy_to(t, "");
      ADD_FAILURE() << op << " passed";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument) << e.what();
    }
  };
  const Tensor outside = Tensor::of<int64_t>({0, 0, 7, 0}, {2, 2}), sizes = Tensor::of<int64_t>({5, 3}, {2});
  refused("SparseFillEmptyRows", {outside, numbers({2}), sizes, Tensor::scalar(1.f)});
  refused("SparseFillEmptyRowsGrad", {Tensor::of<int64_t>({0, 9}, {2}), numbers({4})});
  refused("RaggedFillEmptyRows", {Tensor::of<int64_t>({-1, 2}, {2}), numbers({2}), Tensor::scalar<int64_t>(3),
                                  Tensor::scalar(1.f)});
  refused("SparseReshape", {outside, sizes, Tensor::of<int64_t>({4, -1}, {2})});
  refused("SparseReorder", {outside, numbers({3}), sizes});
}

// The state goes on from step to step, on the card as on the CPU.
TEST_F(CudaCalls, GeneratorsGoOn) {
  std::vector<std::vector<Tensor>> drawn;
  for (const char* device : {"/cpu:0", "/gpu:0"}) try {
      Graph g;
      const Scope in = g.as_default(), on = g.device(device);
      const Output state = g.add("VarHandleOp", {}, {{"dtype", DType::kInt64}, {"shape", Shape{3}}})->output();
      Node* const start = g.add("AssignVariableOp", {state, constant(Tensor::of<int64_t>({-300, 1, 77}, {3}))});
      const Output algorithm = constant(Tensor::scalar<int64_t>(1)), shape = constant(ints({33}));
      const AttrList floats = {{"dtype", DType::kFloat}};
      std::vector<Output> results;
      for (const char* op : {"StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"})
        results.push_back(g.add(op, {state, algorithm, shape}, floats)->output());
      Node* const skip =
          g.add("RngSkip", {state, algorithm, constant(Tensor::scalar<int64_t>(9))});
      Session s(g, growing());
      s.run(start);
      drawn.emplace_back();
      for (int step = 0; step < 4; ++step) {
        s.run(skip);
        for (const Output& r : results) drawn.back().push_back(s.run(r));
      }
      const Tensor now = s.run(g.add("ReadVariableOp", {state}, {{"dtype", DType::kInt64}})->output());
      EXPECT_EQ(now.data<int64_t>()[1], 2);  // the counter has passed its first half's end
      drawn.back().push_back(now);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  for (size_t i = 0; drawn.size() == 2 && i < drawn[0].size(); ++i)
    EXPECT_EQ(cpu::difference(drawn[1][i], drawn[0][i], 300), "") << i;
}

TEST_F(CudaCalls, WhatOnlyTheHostTouches) {
  try {
    host_side_calls(eager_);
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST_F(CudaCalls, RecurrentCellsOfSomeSize) {
  const int64_t time = 5, batch = 9, inputs = 17, n = 24;
  for (const bool peephole : {false, true}) {
    const AttrList how = {{"forget_bias", 0.5f}, {"cell_clip", 0.75f}, {"use_peephole", peephole}};
    std::vector<Tensor> given = {Tensor::scalar<int64_t>(4), numbers({time, batch, inputs}),
                                 numbers({batch, n}), numbers({batch, n}),
                                 numbers({inputs + n, 4 * n}), numbers({n}), numbers({n}),
                                 numbers({n}), numbers({4 * n})};
    for (const char* version : {"", "V2"}) {
      AttrList forth = how;
      if (*version) forth = {{"cell_clip", 0.75f}, {"use_peephole", peephole}};
      const std::string op = "BlockLSTM", name = op + version, back = op + "Grad" + version;
      same(name.c_str(), given, forth, 60000);
      auto all = given;
      for (const Tensor& t : eager_.execute(name, given, forth, "/cpu:0")) all.push_back(t);
      all.push_back(numbers({time, batch, n}));
      all.push_back(numbers({time, batch, n}));
      same(back.c_str(), all, {{"use_peephole", peephole}}, 60000);
    }
  }
}

// Who takes may wait for who puts; both are on the card, what is between them is not.
TEST_F(CudaCalls, QueuesGiveWhatTheyWereGiven) {
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const AttrList of_floats = {{"component_types", std::vector<DType>{DType::kFloat}}, {"capacity", 2}};
  const Output queue = g.add("FIFOQueueV2", {}, of_floats)->output();
  const Output x = placeholder(DType::kFloat, Shape{1000});
  Node* const put = g.add("QueueEnqueueV2", {queue, x * constant(2.f)}, {});
  const Output out = g.add("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::kFloat}}})->output() +
                     constant(1.f);
  Session s(g, growing());
  std::thread putting([&] {
    for (int i = 0; i < 20; ++i) {
      Tensor t(DType::kFloat, Shape{1000});
      std::fill_n(t.data<float>(), 1000, static_cast<float>(i));
      s.run({{x, t}}, {}, std::vector<Node*>{put});
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(s.run(out).data<float>()[999], 2.f * static_cast<float>(i) + 1.f);
  putting.join();
}

}  // namespace
}  // namespace emplace
