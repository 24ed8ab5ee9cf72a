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

CardStep product(DType dtype, int64_t n) {
  Builder b;
  const auto x = b.variable(dtype, {n, n}, 1), y = b.variable(dtype, {n, n}, 1);
  const auto out = b.variable(dtype, {1, 1}, 1);
  const Output z = matmul(x.value, y.value);
  const Output corner = b.op("Slice", {z, constant(Tensor::of<int32_t>({0, 0}, {2})),
                                       constant(Tensor::of<int32_t>({1, 1}, {2}))});
  b.store(corner, out);
  return b.finish(out.value);
}

CardStep sum(int64_t n) {
  Builder b;
  const auto x = b.variable(DType::kFloat, {n}, 1), y = b.variable(DType::kFloat, {n}, 1);
  const auto out = b.variable(DType::kFloat, {1}, 1);
  const Output z = x.value + y.value;
  const Output corner = b.op("Slice", {z, constant(Tensor::of<int32_t>({0}, {1})),
                                       constant(Tensor::of<int32_t>({1}, {1}))});
  b.store(corner, out);
  return b.finish(out.value);
}

CardStep mlp() {
  Builder b;
  const auto x = b.variable(DType::kFloat, {128, 784}, 1);
  const auto logits_wanted = b.variable(DType::kFloat, {128, 10}, 1);
  const Output labels = b.op("Softmax", {logits_wanted.value});
  struct Layer {
    Builder::Var w, b;
    Output in, out;
  };
  std::vector<Layer> layers;
  const int64_t sizes[] = {784, 512, 512, 10};
  Output h = x.value;
  for (int i = 0; i < 3; ++i) {
    Layer l{b.variable(DType::kFloat, {sizes[i], sizes[i + 1]}, 0.05f),
            b.variable(DType::kFloat, {sizes[i + 1]}, 0.0f), h, {}};
    h = b.op("BiasAdd", {matmul(h, l.w.value), l.b.value});
    if (i < 2) h = relu(h);
    l.out = h;
    layers.push_back(l);
  }
  Node* loss = h.node;
  loss = b.op("SoftmaxCrossEntropyWithLogits", {h, labels}).node;
  Output d = Output{loss, 1} * constant(1.0f / 128);
  for (int i = 2; i >= 0; --i) {
    Layer& l = layers[static_cast<size_t>(i)];
    if (i < 2) d = b.op("ReluGrad", {d, l.out});
    const Output dw = matmul(l.in, d, true, false), db = b.op("BiasAddGrad", {d});
    if (i > 0) d = matmul(d, l.w.value, false, true);
    b.descend(l.w, dw);
    b.descend(l.b, db);
  }
  return b.finish(layers[2].w.value);
}

}  // namespace emplace::bench
