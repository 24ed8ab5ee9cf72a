#include "bench/truth/calls.h"

#include <algorithm>
#include <functional>

#include "bench/common/quiet.h"
#include "emplace/emplace.h"
#include "placement/costs/estimate.h"
#include "session/calibrate.h"

namespace emplace::bench {
namespace {

constexpr int kSteps = 60;

// Makes the node of a call from fed values of these shapes.
struct Case {
  std::string name;
  std::vector<Shape> fed;
  std::function<Output(const std::vector<Output>&)> call;
  DType dtype = DType::kFloat;
};

AttrList conv(int64_t stride) {
  return {{"strides", std::vector<int64_t>{1, stride, stride, 1}}, {"padding", "SAME"}};
}
AttrList windows(int64_t size, int64_t stride) {
  return {{"ksize", std::vector<int64_t>{1, size, size, 1}},
          {"strides", std::vector<int64_t>{1, stride, stride, 1}}, {"padding", "SAME"}};
}
Output ints(std::vector<int32_t> v) { return constant(Tensor::vector<int32_t>(v)); }

using In = const std::vector<Output>&;

Case plain(std::string op_name, std::vector<Shape> fed, AttrList attrs = {}) {
  return {op_name, fed, [=](In in) { return op(op_name, in, attrs); }};
}

std::vector<Case> cases() {
  const Shape image{4, 28, 28, 64}, filter{3, 3, 64, 64}, matrix{512, 512}, large{2048, 2048};
  return {
      plain("MatMul", {{64, 784}, {784, 512}}),
      plain("MatMul", {{1, 1024}, {1024, 1024}}),
      plain("MatMul", {{128, 64}, {64, 64}}),
      plain("MatMul", {matrix, matrix}, {{"transpose_a", true}}),
      plain("BatchMatMulV2", {{8, 64, 64}, {8, 64, 64}}),
      plain("BatchMatMulV2", {{32, 128, 32}, {32, 32, 128}}),
      plain("Einsum", {{8, 64, 128}, {128, 128}}, {{"equation", "abc,cd->abd"}, {"N", 2}}),
      plain("Conv2D", {image, filter}, conv(1)),
      plain("Conv2D", {{1, 224, 224, 3}, {7, 7, 3, 64}}, conv(2)),
      plain("Conv2D", {{1, 14, 14, 256}, {1, 1, 256, 1024}}, conv(1)),
      {"Conv2DBackpropInput", {filter, image},
       [](In in) { return op("Conv2DBackpropInput", {ints({4, 28, 28, 64}), in[0], in[1]}, conv(1)); }},
      {"Conv2DBackpropFilter", {image, image},
       [](In in) { return op("Conv2DBackpropFilter", {in[0], ints({3, 3, 64, 64}), in[1]}, conv(1)); }},
      plain("DepthwiseConv2dNative", {image, {3, 3, 64, 1}}, conv(1)),
      plain("MaxPool", {image}, windows(2, 2)),
      plain("AvgPool", {image}, windows(3, 2)),
      plain("Softmax", {{512, 1000}}),
      plain("Tanh", {matrix}),
      plain("Relu", {large}),
      plain("Add", {matrix, matrix}),
      plain("BiasAdd", {{512, 512}, {512}}),
      plain("FusedBatchNormV3", {image, {64}, {64}, {64}, {64}}, {{"is_training", false}}),
      {"Sum, rows", {large}, [](In in) { return op("Sum", {in[0], ints({1})}); }},
      {"Sum, columns", {large}, [](In in) { return op("Sum", {in[0], ints({0})}); }},
      {"Transpose", {large}, [](In in) { return op("Transpose", {in[0], ints({1, 0})}); }},
      {"ConcatV2", {matrix, matrix}, [](In in) { return op("ConcatV2", {in[0], in[1], constant(1)}, {{"N", 2}}); }},
      {"GatherV2", {{10000, 64}}, [](In in) {
         return op("GatherV2", {in[0], ints(std::vector<int32_t>(256, 77)), constant(0)}); }},
      {"TopKV2", {{64, 10000}}, [](In in) { return op("TopKV2", {in[0], constant(10)}); }},
      {"sort", {{64, 10000}}, [](In in) { return op("TopKV2", {in[0], constant(10000)}); }},
      {"RFFT", {{64, 1024}}, [](In in) { return op("RFFT", {in[0], ints({1024})}); }},
      plain("FFT2D", {{4, 128, 128}}),
      plain("Cholesky", {{128, 128}}),
      plain("MatrixInverse", {{128, 128}}),
      plain("Qr", {{128, 128}}),
      plain("Svd", {{64, 64}}),
      plain("SelfAdjointEigV2", {{64, 64}}),
      plain("LSTMBlockCell", {{32, 128}, {32, 128}, {32, 128}, {256, 512}, {128}, {128}, {128}, {512}}),
      {"BlockLSTM", {{20, 32, 128}, {32, 128}, {32, 128}, {256, 512}, {128}, {128}, {128}, {512}}, [](In in) {
         std::vector<Output> all = {constant(int64_t{20})};
         all.insert(all.end(), in.begin(), in.end());
         return op("BlockLSTM", all); }},
      {"RandomStandardNormal", {{1}}, [](In) { return op("RandomStandardNormal", {ints({512, 512})}, {{"dtype", DType::kFloat}}); }},
      {"ResizeBilinear", {image}, [](In in) { return op("ResizeBilinear", {in[0], ints({56, 56})}); }},
  };
}

// Positive and self-adjoint where it is a matrix, so that everything can be decomposed.
Tensor filled(const Shape& shape, DType dtype) {
  Tensor t(dtype, shape);
  const int64_t n = shape.rank() >= 2 ? shape[shape.rank() - 1] : 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t row = i / n % n, column = i % n;
    const float v = shape.rank() >= 2 && row == column ? 2.f : 1.f / float(3 + std::abs(row - column));
    if (dtype == DType::kComplex64) t.data<std::complex<float>>()[i] = v;
    else t.data<float>()[i] = v;
  }
  return t;
}

Row look_at(const Case& c) {
  auto graph = std::make_shared<Graph>();
  const Scope in_graph = graph->as_default();
  const DType dtype = c.name.starts_with("FFT") ? DType::kComplex64 : c.dtype;
  std::vector<Output> fed;
  Feeds feeds;
  for (const Shape& s : c.fed) {
    fed.push_back(placeholder(dtype, s));
    feeds.emplace_back(fed.back(), filled(s, dtype));
  }
  const Output called = c.call(fed);
  SessionOptions options;
  options.placer = "simple";
  Session session(graph, options);
  RunOptions traced;
  traced.trace = true;
  std::vector<double> took;
  for (int i = 0; i < kSteps; ++i) {
    RunMetadata step;
    session.run(feeds, std::vector<Output>{called}, {}, traced, &step);
    for (const NodeStats& n : step.nodes)
      if (n.node == called.node->name()) took.push_back(double(n.end_ns - n.start_ns) * 1e-3);
  }
  std::vector<Shape> in, out;
  for (const Output& o : called.node->inputs()) in.push_back(o.shape());
  for (int i = 0; i < called.node->num_outputs(); ++i) out.push_back(called.node->output_shape(i));
  Session::Impl& s = session.impl();
  const DeviceKinds kinds = device_kinds(*s.devices);
  const CostBook machine = machine_rates({s.pools, s.devices, s.resources_owner, nullptr}, kinds, s.kernels);
  const Work work = work_of(*called.node, in, out);
  const double said = seconds(work, *machine.rates(kinds.at(s.devices->front()->name())));
  std::string shapes;
  for (const Shape& shape : c.fed) shapes += ' ' + shape.str();
  Row row{c.name + shapes, said * 1e6, "us", {}};
  row.peers = {{"measured", lower_quartile(took)}};
  return row;
}

}  // namespace

std::vector<Row> estimated_calls() {
  std::vector<Row> rows;
  for (const Case& c : cases()) rows.push_back(look_at(c));
  return rows;
}

}  // namespace emplace::bench
