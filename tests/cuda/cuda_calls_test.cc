// Calls of single ops on a card beside the CPU's: sizes that the golden calls have not, and dtypes that
// only a card's kernels are written for.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "cuda_calls_testutil.h"

namespace emplace {
namespace {

using Ints = std::vector<int64_t>;

Tensor matrix_of_ints(std::initializer_list<int32_t> v) {
  return Tensor::of<int32_t>(v, {static_cast<int64_t>(v.size() / 2), 2});
}

TEST_F(CudaCalls, Diagonals) {
  same("MatrixDiag", {numbers({3, 5})});
  same("MatrixDiagPart", {numbers({2, 4, 6})});
  same("MatrixSetDiag", {numbers({2, 4, 6}), numbers({2, 4})});
  same("Diag", {numbers({2, 3})});
  same("DiagPart", {numbers({2, 3, 2, 3})});
  for (const char* align : {"RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"}) {
    same("MatrixDiagV3",
         {numbers({2, 4, 4}), ints({-2, 1}), Tensor::scalar<int32_t>(-1),
          Tensor::scalar<int32_t>(-1), Tensor::scalar(7.f)},
         {{"align", align}});
    same("MatrixDiagPartV3", {numbers({2, 4, 6}), ints({-2, 3}), Tensor::scalar(9.f)},
         {{"align", align}});
    same("MatrixSetDiagV3", {numbers({2, 4, 6}), numbers({2, 4, 4}), ints({-1, 2})},
         {{"align", align}});
  }
}

TEST_F(CudaCalls, BlocksAndSequences) {
  same("SpaceToBatchND", {numbers({2, 4, 5, 3}), ints({2, 3}), matrix_of_ints({1, 1, 0, 1})});
  same("BatchToSpaceND", {numbers({12, 3, 2, 3}), ints({2, 3}), matrix_of_ints({1, 0, 0, 2})});
  same("SpaceToBatch", {numbers({1, 4, 6, 2}), matrix_of_ints({0, 0, 0, 0})}, {{"block_size", 2}});
  same("ReverseSequence", {numbers({3, 4, 2}), ints({4, 0, 2})},
       {{"seq_dim", 1}, {"batch_dim", 0}});
  same("Cross", {numbers({5, 3}), numbers({5, 3})});
}

TEST_F(CudaCalls, ImagesOfAnotherSize) {
  for (const bool centers : {false, true})
    for (const bool align : {false, true}) {
      if (centers && align) continue;
      const AttrList how = {{"align_corners", align}, {"half_pixel_centers", centers}};
      for (const Tensor& size : {ints({7, 5}), ints({2, 9})}) {
        same("ResizeBilinear", {numbers({2, 4, 6, 3}), size}, how, 4000);
        same("ResizeNearestNeighbor", {numbers({2, 4, 6, 3}), size}, how);
      }
      same("ResizeBilinearGrad", {numbers({2, 7, 5, 3}), numbers({2, 4, 6, 3})}, how, 4000);
      same("ResizeBilinearGrad", {numbers({2, 3, 4, 3}), numbers({2, 6, 9, 3})}, how, 4000);
      same("ResizeNearestNeighborGrad", {numbers({2, 7, 5, 3}), ints({4, 6})}, how, 4000);
    }
}

TEST_F(CudaCalls, CountsAndOrders) {
  same("TopKV2", {numbers({3, 700}), Tensor::scalar<int32_t>(17)});
  same("TopKV2", {numbers({2, 9}), Tensor::scalar<int32_t>(9)});
  same("ApproxTopK", {numbers({3, 700})}, {{"k", 17}});
  same("InTopKV2", {numbers({6, 8}), ints({0, 3, 7, 5, 2, 1}), Tensor::scalar<int32_t>(3)});
  Tensor sorted(DType::kFloat, Shape{2, 5});
  for (int i = 0; i < 10; ++i) sorted.data<float>()[i] = static_cast<float>(i % 5) / 4.f - 0.5f;
  same("LowerBound", {sorted, numbers({2, 40})});
  same("UpperBound", {sorted, numbers({2, 40})});
  same("Bucketize", {numbers({50})}, {{"boundaries", std::vector<float>{-0.5f, 0.f, 0.25f}}});
  same("DenseBincount", {ints({1, 4, 1, 0, 9, 1}), Tensor::scalar<int32_t>(5), numbers({6})},
       {{"binary_output", false}});
  same("HistogramFixedWidth",
       {numbers({200}), Tensor::of<float>({-0.5f, 0.75f}, {2}), Tensor::scalar<int32_t>(7)});
}

// Mostly zeros.
Tensor sparse(Shape shape) {
  Tensor t = numbers(std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    if (i * 31 % 7) t.data<float>()[i] = 0;
  return t;
}

TEST_F(CudaCalls, ResultsWhoseSizeTheDataDecide) {
  same("Where", {sparse({3, 5, 400})});
  same("Where", {sparse({2500})});
  same("Where", {Tensor(DType::kFloat, Shape{0, 3})});
  const Tensor ids = ints({0, 0, 1, 3, 3, 3, 6});
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"})
    same(op, {numbers({7, 5}), ids}, {}, 4000);
}

TEST_F(CudaCalls, GradientsOfSegmentsToTheRowsTheyTook) {
  Tensor rows(DType::kInt64, Shape{3000}), segments(DType::kInt32, Shape{3000});
  for (int i = 0; i < 3000; ++i) {
    rows.data<int64_t>()[i] = int64_t{i} * 7919 % 5003;
    segments.data<int32_t>()[i] = i / 40;
  }
  for (const char* op :
       {"SparseSegmentSumGradV2", "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2"}) {
    same(op, {numbers({75, 5}), rows, segments, Tensor::scalar<int32_t>(5003)}, {}, 4000);
    same(op,
         {numbers({3, 5}), ints({8, 2, 8, 0, 2, 8}), ints({0, 0, 1, 1, 2, 2}),
          Tensor::scalar<int32_t>(9)});
    same(op, {numbers({3, 5}), Tensor(DType::kInt32, Shape{0}), Tensor(DType::kInt32, Shape{0}),
              Tensor::scalar<int32_t>(9)});
  }
}

// Batch normalisation and its gradient, by each device's own figures of the batch.
std::vector<Tensor> norms(Eager& eager, const char* device, const Tensor& x, const Tensor& dy, bool training) {
  const int64_t channels = x.dim(3);
  const Tensor scale = numbers({channels}), shift = numbers({channels});
  Tensor variance(DType::kFloat, Shape{channels});
  for (int64_t i = 0; i < channels; ++i) variance.data<float>()[i] = 0.5f + static_cast<float>(i % 7);
  const AttrList how = {{"epsilon", 0.001f}, {"is_training", training}, {"exponential_avg_factor", 0.25f}};
  const Tensor given[] = {x, scale, shift, numbers({channels}), variance};
  const auto y = eager.execute("FusedBatchNormV3", given, how, device);
  std::vector<Tensor> all(y.begin(), y.begin() + 3);
  if (training) {
    const Tensor back[] = {dy, x, scale, y[3], y[4], y[5]};
    const auto dx = eager.execute("FusedBatchNormGradV3", back, {{"epsilon", 0.001f}}, device);
    all.insert(all.end(), dx.begin(), dx.begin() + 3);
  }
  for (Tensor& t : all) t = eager.copy_to(t, "");
  return all;
}

// Groups of channels, channels one by one, more rows than a block takes, one row.
TEST_F(CudaCalls, BatchNormalisation) {
  for (const bool training : {true, false})
    for (const Shape& shape : {Shape{4, 29, 31, 64}, {2, 17, 19, 48}, {3, 9, 11, 7}, {8, 7, 7, 520}, {1, 1, 2, 4}}) {
      SCOPED_TRACE(shape.str());
      Tensor x = numbers(shape);
      for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] += 3;  // far from zero
      const Tensor dy = numbers(shape);
      const auto want = norms(eager_, "/cpu:0", x, dy, training), got = norms(eager_, "/gpu:0", x, dy, training);
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(cpu::difference(got[i], want[i], 20000), "") << "output " << i;
    }
}

Tensor as(DType dtype, float v) {
  Tensor t(dtype, Shape{});
  if (dtype == DType::kDouble) *t.data<double>() = static_cast<double>(v);
  else if (dtype == DType::kFloat) *t.data<float>() = v;
  else *t.data<Half>() = static_cast<Half>(v);
  return t;
}

// Two steps of one session, whose stream goes on.
std::vector<Tensor> normals_between(const char* device, std::vector<Tensor> inputs) {
  Graph g;
  const Scope in = g.as_default(), on = g.device(device);
  std::vector<Output> given;
  for (Tensor& t : inputs) given.push_back(constant(std::move(t)));
  const Output drawn = g.add("ParameterizedTruncatedNormal", given, {{"seed", 7}, {"seed2", 9}})->output();
  SessionOptions options;
  options.gpu_options.allow_growth = true;
  Session s(g, options);
  return {s.run(drawn), s.run(drawn)};
}

// The same draws are taken: a number that only one of both takes would shift all that follow.
TEST_F(CudaCalls, NormalNumbersBetweenBounds) {
  auto same = [](const std::vector<Tensor>& inputs) {
    try {
      const auto want = normals_between("/cpu:0", inputs), got = normals_between("/gpu:0", inputs);
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(cpu::difference(got[i], want[i], 4), "") << i;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  };
  const float inf = std::numeric_limits<float>::infinity();
  for (DType t : {DType::kFloat, DType::kDouble, DType::kHalf})
    for (const auto& [low, high] : {std::pair{-0.5f, 0.75f}, {-2.f, 2.f}, {3.f, 20.f}, {2.f, 2.25f},
                                    {-inf, -2.f}, {1.f, inf}}) {
      SCOPED_TRACE(std::to_string(low) + " " + std::to_string(high));
      for (const Tensor& shape : {ints({9}), ints({31, 33})})
        same({shape, as(t, 0.5f), as(t, 2.f), as(t, low), as(t, high)});
    }
  same({ints({3, 500}), Tensor::of<float>({0, 1, 2}, {3}), Tensor::scalar(1.f),
        Tensor::of<float>({-0.5f, 0.5f, -9}, {3}), Tensor::of<float>({0.75f, 2, 9}, {3})});
  try {
    normals_between("/gpu:0", {ints({3}), as(DType::kFloat, 0), as(DType::kFloat, 1),
                               as(DType::kFloat, 1), as(DType::kFloat, 1)});
    ADD_FAILURE() << "bounds that leave nothing passed";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument) << e.what();
  }
}

// Only graphs of older producers may hold it.
TEST_F(CudaCalls, ContrastOfAnOldGraph) {
  for (DType t : {DType::kUint8, DType::kInt8, DType::kInt16, DType::kInt32, DType::kFloat,
                  DType::kDouble}) {
    std::vector<Tensor> results;
    for (const char* device : {"/cpu:0", "/gpu:0"}) {
      Graph g;
      import_graph_def_text(g, "versions { producer: 1 }");
      const Scope in = g.as_default(), on = g.device(device);
      Tensor x(DType::kInt32, Shape{2, 20, 30, 3});
      for (int i = 0; i < 3600; ++i) x.data<int32_t>()[i] = i * 7919 % 91;
      const Output images = g.add("Cast", {constant(x)}, {{"DstT", t}})->output();
      const Output y = g.add("AdjustContrast", {images, constant(1.75f), constant(4.f),
                                                constant(70.5f)})->output();
      Session s(g, growing());
      results.push_back(s.run(y));
    }
    EXPECT_EQ(cpu::difference(results[1], results[0], 100), "") << dtype_name(t);
  }
}

TEST_F(CudaCalls, WhatIsStagedComesBackInOrder) {
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const AttrList area = {{"dtypes", std::vector<DType>{DType::kFloat}},
                         {"capacity", 2},
                         {"shared_name", std::string("area")}};
  const Output x = placeholder(DType::kFloat, Shape{1000});
  Node* const put = g.add("Stage", {x * constant(2.f)}, area);
  const Output out = g.add("Unstage", {}, area)->output() + constant(1.f);
  Session s(g, growing());
  std::thread putting([&] {
    for (int i = 0; i < 20; ++i) {
      Tensor t(DType::kFloat, Shape{1000});
      std::fill_n(t.data<float>(), 1000, static_cast<float>(i));
      s.run({{x, t}}, {}, std::vector<Node*>{put});
    }
  });
  for (int i = 0; i < 20; ++i) {
    const Tensor got = s.run(out);
    EXPECT_EQ(got.data<float>()[0], 2.f * static_cast<float>(i) + 1.f);
    EXPECT_EQ(got.data<float>()[999], 2.f * static_cast<float>(i) + 1.f);
  }
  putting.join();
}

TEST_F(CudaCalls, MirroredListsAndEmptyParameters) {
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const AttrList floats = {{"element_dtype", DType::kFloat}};
  const Output shape = constant(Tensor::of<int32_t>({3}, {1}));
  const Output list =
      g.add("TensorListFromTensor", {constant(numbers({4, 3})), shape}, floats)->output();
  const Output same = g.add("Conj", {list}, {{"T", DType::kVariant}})->output();
  const Output stacked = g.add("TensorListStack", {same, shape}, floats)->output();
  const Output zeros =
      g.add("FakeParam", {}, {{"dtype", DType::kFloat}, {"shape", Shape{2, 3}}})->output();
  Session s(g, growing());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(cpu::difference(s.run(stacked), numbers({4, 3}), 0), "");
    EXPECT_EQ(s.run(zeros + constant(1.f)).str(), "[[1. 1. 1.]\n [1. 1. 1.]]");
  }
}

TEST_F(CudaCalls, ElementsMovedAndCompared) {
  same("Reverse", {numbers({3, 4}), Tensor::of<bool>({true, false}, {2})});
  same("ConjugateTranspose", {numbers({3, 4, 5}), ints({2, 0, 1})});
  same("ApproximateEqual", {numbers({50}), sparse({50})}, {{"tolerance", 0.4f}});
  same("PopulationCount", {Tensor::of<int16_t>({-1, 0, 77, -32768}, {4})});
}

TEST_F(CudaCalls, PoolsAndLocalResponseNormalisation) {
  for (const int64_t channels : {3, 8})
    for (const char* padding : {"SAME", "VALID"}) {
      const AttrList how = {
          {"ksize", Ints{1, 3, 3, 1}}, {"strides", Ints{1, 2, 2, 1}}, {"padding", padding}};
      const Tensor x = numbers({2, 9, 8, channels});
      same("MaxPool", {x}, how);
      same("AvgPool", {x}, how);
      const Tensor y = eager_.execute("MaxPool", std::vector<Tensor>{x}, how, "/cpu:0")[0];
      same("MaxPoolGrad", {x, y, numbers(y.shape())}, how);
      same("AvgPoolGrad", {ints({2, 9, 8, static_cast<int32_t>(channels)}), numbers(y.shape())},
           how);
    }
  const AttrList how = {{"depth_radius", 4}, {"bias", 1.f}, {"alpha", 0.3f}, {"beta", 0.75f}};
  for (const int64_t depth : {5, 64, 100}) {
    const Tensor x = numbers({3, 7, 5, depth});
    same("LRN", {x}, how, 4000);
    const Tensor y = eager_.execute("LRN", std::vector<Tensor>{x}, how, "/cpu:0")[0];
    same("LRNGrad", {numbers(x.shape()), x, y}, how, 20000);
  }
}

TEST_F(CudaCalls, BatchNormalisationForthAndBack) {
  for (const bool training : {true, false})
    for (const char* format : {"NHWC", "NCHW", "NDHWC"}) {
      const bool first = format == std::string_view("NCHW"),
                 volume = format == std::string_view("NDHWC");
      const Tensor x = numbers(volume  ? Shape{3, 2, 5, 4, 6}
                               : first ? Shape{3, 6, 5, 4}
                                       : Shape{3, 5, 4, 6});
      Tensor variance = numbers({6});
      for (int i = 0; i < 6; ++i) variance.data<float>()[i] = 1.5f + 0.1f * static_cast<float>(i);
      const AttrList how = {{"epsilon", 0.01f}, {"is_training", training}, {"data_format", format}};
      const Tensor none(DType::kFloat, Shape{0});
      std::vector<std::vector<Tensor>> results;
      for (const char* device : {"/cpu:0", "/gpu:0"}) try {
          const auto y = eager_.execute(
              "FusedBatchNormV3",
              std::vector<Tensor>{x, numbers({6}), numbers({6}), training ? none : numbers({6}),
                                  training ? none : variance},
              how, device);
          const auto d = eager_.execute(
              "FusedBatchNormGradV3",
              std::vector<Tensor>{numbers(x.shape()), x, numbers({6}),
                                  training ? y[3] : numbers({6}), training ? y[4] : variance, y[5]},
              how, device);
          results.push_back({y[0], d[0], d[1], d[2]});
        } catch (const Error& e) {
          ADD_FAILURE() << device << " " << format << ": " << e.what();
        }
      for (size_t i = 0; results.size() == 2 && i < results[0].size(); ++i)
        EXPECT_EQ(cpu::difference(eager_.copy_to(results[1][i], ""), results[0][i], 20000), "")
            << format << " training " << training << " result " << i;
    }
}

TEST_F(CudaCalls, ListsAndArraysOfALoop) {
  for (const char* device : {"/cpu:0", "/gpu:0"}) {
    SCOPED_TRACE(device);
    Graph g;
    const Scope in = g.as_default(), on = g.device(device);
    auto op = [&](const char* type, std::initializer_list<Output> inputs, AttrList attrs = {}) {
      return g.add(type, inputs, std::move(attrs))->output();
    };
    const AttrList floats = {{"element_dtype", DType::kFloat}};
    const Output shape = constant(Tensor::of<int32_t>({3}, {1}));
    Output list = op("TensorListReserve", {shape, constant(Tensor::scalar<int32_t>(4))}, floats);
    Output item = constant(numbers({3}));
    for (int32_t i = 0; i < 3; ++i) {
      item = tanh(item) + item;
      list = op("TensorListSetItem", {list, constant(Tensor::scalar(i)), item}, floats);
    }
    const Output doubled = op("AddN", {list, list}, {{"N", 2}});
    const Output stacked = op("TensorListStack", {doubled, shape}, floats);
    Session s(g, growing());
    Tensor got;
    for (int i = 0; i < 5; ++i) got = s.run(stacked);
    if (device[1] == 'c') want_ = got;
    else EXPECT_EQ(cpu::difference(got, want_, 300), "");
  }
}

TEST_F(CudaCalls, SumsOfColumns) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{5000, 64}, {129, 33}, {1000, 1}, {3, 700}}) {
    same("Sum", {numbers({rows, columns}), ints({0})}, {}, 200000);
    same("Max", {numbers({rows, columns}), ints({0})});
    same("BiasAddGrad", {numbers({rows, columns})}, {}, 200000);
  }
  same("Mean", {numbers({4, 600, 7}), ints({1})}, {}, 200000);
}

TEST_F(CudaCalls, SmallProducts) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const auto& [m, n, k] :
           {std::array<int64_t, 3>{7, 9, 5}, {64, 64, 64}, {1, 10, 130}, {33, 17, 4}})
        same("MatMul",
             {numbers(ta ? Shape{k, m} : Shape{m, k}), numbers(tb ? Shape{n, k} : Shape{k, n})},
             {{"transpose_a", ta}, {"transpose_b", tb}}, 20000);
}

// Small whole numbers, of which every product and sum is exact, in TF32 too.
Tensor wholes(Shape shape) {
  Tensor t(DType::kFloat, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<float>()[i] = static_cast<float>(i * 7919 % 10007 % 5 - 2);
  return t;
}

// Large enough for copies with rows on edges of 16 bytes to pay, which plans with known shapes try.
TEST_F(CudaCalls, ProductsOfRowsThatFallOnNoEdges) {
  for (const auto& [ta, tb] : {std::pair{false, true}, {false, false}, {true, false}}) {
    const int64_t m = 2050, n = 3001, k = 3003;
    const Tensor a = wholes(ta ? Shape{k, m} : Shape{m, k}),
                 b = wholes(tb ? Shape{n, k} : Shape{k, n});
    const AttrList attrs = {{"transpose_a", ta}, {"transpose_b", tb}};
    Graph g;
    const Scope on = g.device("/gpu:0"), in_graph = g.as_default();
    const Output x = placeholder(DType::kFloat, a.shape()),
                 y = placeholder(DType::kFloat, b.shape());
    const std::vector<Output> out = {g.add("MatMul", {x, y}, attrs)->output()};
    Session s(g, growing());
    const Tensor got = s.run({{x, a}, {y, b}}, out)[0];
    const std::vector<Tensor> inputs = {a, b};
    EXPECT_EQ(cpu::difference(got, eager_.execute("MatMul", inputs, attrs, "/cpu:0")[0], 0), "")
        << ta << tb;
  }
}

TEST_F(CudaCalls, ConvolutionsOfSinglePixelsAndWithUnevenPadding) {
  const AttrList same_size = {{"padding", "SAME"}, {"strides", std::vector<int64_t>{1, 1, 1, 1}}};
  const AttrList halved = {{"padding", "SAME"}, {"strides", std::vector<int64_t>{1, 2, 2, 1}}};
  const auto check = [&](Shape image, Shape filter, Shape result, const AttrList& attrs) {
    auto sizes = [](const Shape& s) {
      Tensor t(DType::kInt32, {4});
      for (int d = 0; d < 4; ++d) t.data<int32_t>()[d] = static_cast<int32_t>(s[d]);
      return t;
    };
    same("Conv2D", {wholes(image), wholes(filter)}, attrs, 0);
    same("Conv2DBackpropInput", {sizes(image), wholes(filter), wholes(result)}, attrs, 0);
    same("Conv2DBackpropFilter", {wholes(image), sizes(filter), wholes(result)}, attrs, 0);
  };
  check({2, 9, 7, 24}, {1, 1, 24, 40}, {2, 9, 7, 40}, same_size);
  check({2, 9, 7, 3}, {1, 1, 3, 5}, {2, 9, 7, 5}, same_size);
  check({2, 12, 10, 8}, {3, 3, 8, 16}, {2, 6, 5, 16}, halved);
  check({2, 12, 10, 3}, {7, 7, 3, 8}, {2, 6, 5, 8}, halved);
}

// Forth and back: once with its relu and what is added before it in one kernel, once by themselves.
TEST_F(CudaCalls, NormalisationWithAReluBehindIt) {
  for (const DType type : {DType::kFloat, DType::kHalf}) {
    std::vector<Tensor> values[2];
    for (const bool joined : {true, false}) {
      if (!joined) setenv("EMPLACE_FUSION", "0", 1);
      Graph g;
      const Scope in_graph = g.as_default(), on = g.device("/gpu:0");
      const auto op = [&](const char* name, std::vector<Output> in, AttrList attrs = {}) {
        return g.add(name, in, std::move(attrs));
      };
      Feeds feeds;
      const auto input = [&](Tensor value) {
        feeds.push_back({placeholder(DType::kFloat, value.shape()), value});
        return op("Cast", {feeds.back().first}, {{"DstT", type}})->output();
      };
      const Shape image{4, 5, 6, 12};
      const Output x = input(numbers(image)), other = input(wholes(image)),
                   dy = input(numbers(image));
      const Output scale = constant(numbers({12})), shift = constant(numbers({12})),
                   none = constant(Tensor(DType::kFloat, {0}));
      Node* const a = op("FusedBatchNormV3", {x, scale, shift, none, none});
      const Output first = op("Relu", {a->output()})->output();
      Node* const b = op("FusedBatchNormV3", {first, shift, scale, none, none});
      const Output second = op("Relu", {op("AddV2", {b->output(), other})->output()})->output();
      const Output back = op("ReluGrad", {dy, second})->output();
      Node* const db = op("FusedBatchNormGradV3", {back, first, shift, {b, 3}, {b, 4}, {b, 5}});
      const Output again = op("ReluGrad", {db->output(), first})->output();
      Node* const da = op("FusedBatchNormGradV3", {again, x, scale, {a, 3}, {a, 4}, {a, 5}});
      const std::vector<Output> out = {first,        second,  {a, 1},  {b, 2},
                                       da->output(), {da, 1}, {da, 2}, {db, 1}};
      Session s(g, growing());
      for (int i = 0; i < 3; ++i) values[joined] = s.run(feeds, out);
      unsetenv("EMPLACE_FUSION");
    }
    for (size_t i = 0; i < values[0].size(); ++i)
      EXPECT_EQ(cpu::difference(values[1][i], values[0][i], 0), "") << i;
  }
}

}  // namespace
}  // namespace emplace
