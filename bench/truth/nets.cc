#include "bench/truth/nets.h"

#include <cmath>
#include <random>

namespace emplace::bench {
namespace {

Tensor random_tensor(Shape shape, float scale = 1) {
  static std::mt19937 random(1);
  std::normal_distribution<float> normal(0, scale);
  Tensor t(DType::kFloat, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(random);
  return t;
}

// Builds a net, block after block.
class Builder {
 public:
  explicit Builder(std::string name) : in_graph_(net_.graph->as_default()) {
    net_.name = std::move(name);
  }

  Output feed(Shape shape) {
    net_.feeds.push_back(placeholder(DType::kFloat, shape));
    net_.values.push_back(random_tensor(shape));
    return net_.feeds.back();
  }
  // What is made from now on belongs to the next block, or to that one.
  void next_block() { block(net_.blocks); }
  void block(int k) {
    mark();
    now_ = k;
    net_.blocks = std::max(net_.blocks, k + 1);
  }
  Output weights(Shape shape) {
    double fan = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) fan *= static_cast<double>(shape[i]);
    weights_.push_back(constant(random_tensor(shape, static_cast<float>(1 / std::sqrt(fan)))));
    return weights_.back();
  }
  Output vector(int64_t n, float value = 0) {
    Tensor t(DType::kFloat, Shape{n});
    std::fill_n(t.data<float>(), n, value);
    return constant(t);
  }
  static Output ints(std::vector<int32_t> v) { return constant(Tensor::vector<int32_t>(v)); }

  Output dense(Output x, int64_t from, int64_t to) {
    return op("BiasAdd", {matmul(x, weights({from, to})), vector(to, 0.1f)});
  }
  Output conv(Output x, int64_t size, int64_t from, int64_t to, int64_t stride) {
    return op("Conv2D", {x, weights({size, size, from, to})},
              {{"strides", std::vector<int64_t>{1, stride, stride, 1}}, {"padding", "SAME"}});
  }
  Output pool(Output x, const char* type, int64_t size, int64_t stride) {
    return op(type, {x}, {{"ksize", std::vector<int64_t>{1, size, size, 1}},
                          {"strides", std::vector<int64_t>{1, stride, stride, 1}},
                          {"padding", "SAME"}});
  }
  Output normalized(Output x, int64_t depth) {
    return op("FusedBatchNormV3", {x, vector(depth, 1), vector(depth), vector(depth), vector(depth, 1)},
              {{"is_training", false}});
  }
  Output reshape(Output x, std::vector<int32_t> shape) { return op("Reshape", {x, ints(std::move(shape))}); }

  Net with_gradients(Output loss) {
    next_block();
    net_.fetches = {loss};
    for (const Output& g : gradients(std::span(&loss, 1), weights_))
      net_.fetches.push_back(op("L2Loss", {g}));
    return done();
  }
  Net fetching(Output y) {
    net_.fetches = {y};
    return done();
  }

 private:
  void mark() { net_.block.resize(net_.graph->num_nodes(), now_); }
  Net done() {
    mark();
    return std::move(net_);
  }

  Net net_;
  Scope in_graph_;
  int now_ = 0;
  std::vector<Output> weights_;
};

Net mlp() {
  Builder b("MLP");
  Output x = b.feed({128, 784});
  for (const int64_t from : {784, 512}) {
    b.next_block();
    x = relu(b.dense(x, from, 512));
  }
  b.next_block();
  return b.with_gradients(op("L2Loss", {b.dense(x, 512, 10)}));
}

Net convolutions() {
  Builder b("convolution net");
  Output x = b.feed({16, 32, 32, 3});
  int64_t depth = 3;
  for (const int64_t to : {32, 64, 64}) {
    b.next_block();
    x = b.pool(relu(op("BiasAdd", {b.conv(x, 3, depth, to, 1), b.vector(to)})), "MaxPool", 2, 2);
    depth = to;
  }
  b.next_block();
  return b.with_gradients(op("L2Loss", {b.dense(b.reshape(x, {16, 1024}), 1024, 10)}));
}

Net lstm() {
  constexpr int64_t kBatch = 32, kHidden = 128;
  Builder b("LSTM");
  const Output w = b.weights({2 * kHidden, 4 * kHidden}), bias = b.vector(4 * kHidden);
  const Output axis = constant(int32_t{1});
  Output h = constant(random_tensor({kBatch, kHidden})), c = h;
  for (int t = 0; t < 16; ++t) {
    if (t % 4 == 0) b.next_block();
    const Output in = op("ConcatV2", {b.feed({kBatch, kHidden}), h, axis}, {{"N", 2}});
    Node* gates = op("Split", {axis, op("BiasAdd", {matmul(in, w), bias})}, {{"num_split", 4}}).node;
    c = sigmoid(gates->output(0)) * c + sigmoid(gates->output(1)) * tanh(gates->output(2));
    h = sigmoid(gates->output(3)) * tanh(c);
  }
  return b.fetching(h);
}

Net resnet() {
  Builder b("ResNet-50");
  Output x = b.feed({1, 96, 96, 3});
  b.next_block();
  x = b.pool(relu(b.normalized(b.conv(x, 7, 3, 64, 2), 64)), "MaxPool", 3, 2);
  int64_t before = 64, width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      b.next_block();
      const int64_t stride = width > 64 && i == 0 ? 2 : 1;
      Output y = relu(b.normalized(b.conv(x, 1, before, width, 1), width));
      y = relu(b.normalized(b.conv(y, 3, width, width, stride), width));
      y = b.normalized(b.conv(y, 1, width, 4 * width, 1), 4 * width);
      const bool same = i > 0;
      x = relu(y + (same ? x : b.normalized(b.conv(x, 1, before, 4 * width, stride), 4 * width)));
      before = 4 * width;
    }
    width *= 2;
  }
  b.next_block();
  const Output mean = op("Mean", {x, Builder::ints({1, 2})});
  return b.fetching(b.dense(mean, before, 1000));
}

Net bert() {
  constexpr int32_t kBatch = 2, kLength = 64, kHidden = 256, kHeads = 4, kDepth = kHidden / kHeads;
  constexpr int32_t kRows = kBatch * kLength;
  Builder b("BERT");
  Output x = b.feed({kRows, kHidden});
  const auto layer_norm = [&](Output v) {
    const Output last = Builder::ints({1}), mean = op("Mean", {v, last}, {{"keep_dims", true}});
    const Output far = v - mean, square = op("Square", {far});
    const Output variance = op("Mean", {square, last}, {{"keep_dims", true}});
    return far * op("Rsqrt", {variance + constant(1e-6f)}) * b.vector(kHidden, 1) + b.vector(kHidden);
  };
  const auto heads = [&](Output v) {
    const Output apart = b.reshape(b.dense(v, kHidden, kHidden), {kBatch, kLength, kHeads, kDepth});
    return op("Transpose", {apart, Builder::ints({0, 2, 1, 3})});
  };
  for (int layer = 0; layer < 4; ++layer) {
    b.next_block();
    const Output q = heads(x), k = heads(x), v = heads(x);
    const Output scores = op("BatchMatMulV2", {q, k}, {{"adj_y", true}}) * constant(0.125f);
    const Output seen = op("BatchMatMulV2", {op("Softmax", {scores}), v});
    const Output joined = b.reshape(op("Transpose", {seen, Builder::ints({0, 2, 1, 3})}), {kRows, kHidden});
    x = layer_norm(x + b.dense(joined, kHidden, kHidden));
    b.next_block();
    const Output up = b.dense(x, kHidden, 4 * kHidden);
    const Output gelu = constant(0.5f) * up * (constant(1.f) + op("Erf", {up * constant(0.7071f)}));
    x = layer_norm(x + b.dense(gelu, 4 * kHidden, kHidden));
  }
  return b.fetching(x);
}

Net branches() {
  constexpr int64_t kWidth = 256;
  Builder b("8 branches");
  const Output x = b.feed({64, kWidth});
  std::vector<Output> ends;
  for (int k = 0; k < 8; ++k) {
    b.next_block();
    Output y = x;
    for (int i = 0; i < 4; ++i) y = tanh(b.dense(y, kWidth, kWidth));
    ends.push_back(y);
  }
  b.next_block();
  return b.fetching(add_n(ends));
}

}  // namespace

std::vector<Net> nets() {
  std::vector<Net> all;
  for (Net (*make)() : {mlp, convolutions, lstm, resnet, bert, branches}) all.push_back(make());
  return all;
}

}  // namespace emplace::bench
