#include "bench/gpu/graphs.h"

#include <random>

namespace emplace::bench {
namespace {

// Builds a graph on the card and makes its session.
class Builder {
 public:
  Builder() : graph_(std::make_unique<Graph>()), in_(graph_->as_default()), on_(graph_->device("/gpu:0")) {}

  Output op(const char* type, std::initializer_list<Output> in, AttrList attrs = {}) {
    return graph_->add(type, in, std::move(attrs))->output();
  }
  // A variable with random values, read.
  struct Var {
    Output handle, value;
  };
  Var variable(DType dtype, Shape shape, float scale) {
    const Output handle = op("VarHandleOp", {}, {{"dtype", dtype}, {"shape", shape}});
    std::vector<int32_t> dims;
    for (int64_t d : shape.dims()) dims.push_back(static_cast<int32_t>(d));
    const Output noise = op("RandomStandardNormal", {constant(Tensor::vector<int32_t>(dims))},
                            {{"dtype", dtype}, {"seed", int64_t{7}}, {"seed2", ++seed_}});
    Output factor = constant(scale);
    if (dtype != DType::kFloat)
      factor = op("Cast", {factor}, {{"SrcT", DType::kFloat}, {"DstT", dtype}});
    start_.push_back(op("Mul", {noise, factor}).node);
    start_.back() = graph_->add("AssignVariableOp", {handle, {start_.back(), 0}});
    return {handle, op("ReadVariableOp", {handle}, {{"dtype", dtype}})};
  }
  void store(Output value, const Var& to) {
    targets_.push_back(graph_->add("AssignVariableOp", {to.handle, value}));
  }
  void descend(const Var& v, Output gradient) {
    targets_.push_back(graph_->add("ResourceApplyGradientDescent",
                                   {v.handle, constant(0.01f), gradient}));
  }
  CardStep finish(Output watched) {
    SessionOptions o;
    o.gpu_options.allow_growth = true;
    CardStep s;
    s.session = std::make_unique<Session>(*graph_, o);
    s.session->run({}, {}, start_);
    s.step = s.session->make_callable({}, {}, targets_);
    s.watched = watched;
    s.graph = std::move(graph_);
    return s;
  }

 private:
  std::unique_ptr<Graph> graph_;
  Scope in_, on_;
  std::vector<Node*> start_, targets_;
  int64_t seed_ = 0;
};

}  // namespace

CardStep add_chain(int length, int64_t n) {
  Builder b;
  const auto x = b.variable(DType::kFloat, {n, n}, 1), out = b.variable(DType::kFloat, {n, n}, 1);
  Output y = x.value;
  for (int i = 0; i < length; ++i) y = y + x.value;
  b.store(y, out);
  return b.finish(out.value);
}

CardStep matmul_chain(int length, int64_t n) {
  Builder b;
  const auto x = b.variable(DType::kFloat, {n, n}, 0.1f), out = b.variable(DType::kFloat, {n, n}, 1);
  Output y = x.value;
  for (int i = 0; i < length; ++i) y = matmul(y, x.value);
  b.store(y, out);
  return b.finish(out.value);
}

CardStep products(DType dtype, int64_t n, int count) {
  Builder b;
  const auto x = b.variable(dtype, {n, n}, 1), y = b.variable(dtype, {n, n}, 1);
  const auto out = b.variable(dtype, {1, 1}, 1);
  Output z = y.value;
  for (int i = 0; i < count; ++i) z = matmul(x.value, z);
  const Output corner = b.op("Slice", {z, constant(Tensor::of<int32_t>({0, 0}, {2})),
                                       constant(Tensor::of<int32_t>({1, 1}, {2}))});
  b.store(corner, out);
  return b.finish(out.value);
}

CardStep sums(int64_t n, int count) {
  Builder b;
  const auto x = b.variable(DType::kFloat, {n}, 1), y = b.variable(DType::kFloat, {n}, 1);
  const auto out = b.variable(DType::kFloat, {1}, 1);
  Output z = y.value;
  for (int i = 0; i < count; ++i) z = x.value + z;
  const Output corner = b.op("Slice", {z, constant(Tensor::of<int32_t>({0}, {1})),
                                       constant(Tensor::of<int32_t>({1}, {1}))});
  b.store(corner, out);
  return b.finish(out.value);
}

namespace {

// Dense layers with relu between them, the loss, and the way back.
class Dense {
 public:
  Dense(Builder& b, Output in, std::initializer_list<int64_t> sizes) : b_(b), h_(in) {
    for (auto to = sizes.begin() + 1; to != sizes.end(); ++to) {
      Layer l{b.variable(DType::kFloat, {*(to - 1), *to}, 0.05f),
              b.variable(DType::kFloat, {*to}, 0.0f), h_, {}};
      h_ = b.op("BiasAdd", {matmul(h_, l.w.value), l.b.value});
      if (to + 1 != sizes.end()) h_ = relu(h_);
      l.out = h_;
      layers_.push_back(l);
    }
  }
  // Descends; returns the gradient of the input when it is wanted.
  Output learn(int64_t batch, bool want_input) {
    const auto wanted = b_.variable(DType::kFloat, {batch, 10}, 1);
    const Output labels = b_.op("Softmax", {wanted.value});
    Node* loss = b_.op("SoftmaxCrossEntropyWithLogits", {h_, labels}).node;
    Output d = Output{loss, 1} * constant(1.0f / static_cast<float>(batch));
    for (size_t i = layers_.size(); i-- > 0;) {
      const Layer& l = layers_[i];
      if (i + 1 < layers_.size()) d = b_.op("ReluGrad", {d, l.out});
      const Output dw = matmul(l.in, d, true, false), db = b_.op("BiasAddGrad", {d});
      if (i > 0 || want_input) d = matmul(d, l.w.value, false, true);
      b_.descend(l.w, dw);
      b_.descend(l.b, db);
    }
    return d;
  }
  Output watched() const { return layers_.back().w.value; }

 private:
  struct Layer {
    Builder::Var w, b;
    Output in, out;
  };
  Builder& b_;
  Output h_;
  std::vector<Layer> layers_;
};

Output ints(std::initializer_list<int32_t> v) {
  return constant(Tensor::of<int32_t>(v, {static_cast<int64_t>(v.size())}));
}

const AttrList kSame = {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", std::string("SAME")}};
const AttrList kPool = {{"ksize", std::vector<int64_t>{1, 3, 3, 1}},
                        {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                        {"padding", std::string("SAME")}};
const AttrList kLrn = {{"depth_radius", int64_t{4}}, {"bias", 1.0f}, {"alpha", 0.001f / 9}, {"beta", 0.75f}};

}  // namespace

CardStep mlp() {
  Builder b;
  const auto x = b.variable(DType::kFloat, {128, 784}, 1);
  Dense dense(b, x.value, {784, 512, 512, 10});
  dense.learn(128, false);
  return b.finish(dense.watched());
}

CardStep cifar() {
  Builder b;
  const auto x = b.variable(DType::kFloat, {128, 24, 24, 3}, 1);
  const auto w1 = b.variable(DType::kFloat, {5, 5, 3, 64}, 0.05f);
  const auto b1 = b.variable(DType::kFloat, {64}, 0.0f);
  const auto w2 = b.variable(DType::kFloat, {5, 5, 64, 64}, 0.05f);
  const auto b2 = b.variable(DType::kFloat, {64}, 0.0f);
  const Output c1 = relu(b.op("BiasAdd", {b.op("Conv2D", {x.value, w1.value}, kSame), b1.value}));
  const Output p1 = b.op("MaxPool", {c1}, kPool), n1 = b.op("LRN", {p1}, kLrn);
  const Output c2 = relu(b.op("BiasAdd", {b.op("Conv2D", {n1, w2.value}, kSame), b2.value}));
  const Output n2 = b.op("LRN", {c2}, kLrn), p2 = b.op("MaxPool", {n2}, kPool);
  Dense dense(b, b.op("Reshape", {p2, ints({128, 2304})}), {2304, 384, 192, 10});
  Output d = b.op("Reshape", {dense.learn(128, true), ints({128, 6, 6, 64})});
  d = b.op("MaxPoolGrad", {n2, p2, d}, kPool);
  d = b.op("LRNGrad", {d, c2, n2}, kLrn);
  d = b.op("ReluGrad", {d, c2});
  b.descend(b2, b.op("BiasAddGrad", {d}));
  b.descend(w2, b.op("Conv2DBackpropFilter", {n1, ints({5, 5, 64, 64}), d}, kSame));
  d = b.op("Conv2DBackpropInput", {ints({128, 12, 12, 64}), w2.value, d}, kSame);
  d = b.op("LRNGrad", {d, p1, n1}, kLrn);
  d = b.op("MaxPoolGrad", {c1, p1, d}, kPool);
  d = b.op("ReluGrad", {d, c1});
  b.descend(b1, b.op("BiasAddGrad", {d}));
  b.descend(w1, b.op("Conv2DBackpropFilter", {x.value, ints({5, 5, 3, 64}), d}, kSame));
  return b.finish(dense.watched());
}

}  // namespace emplace::bench
