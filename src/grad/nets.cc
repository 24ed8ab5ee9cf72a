// Gradients of what nets are made of.
#include "grad/rows.h"

namespace emplace::grad {
namespace {

Output along_last(Output x) { return op("Sum", {x, ints({-1})}, {{"keep_dims", true}}); }
Output columns(Output loss, Output rows) { return f("ExpandDims", loss, constant(-1)) * rows; }

std::vector<Output> of_softmax(const Forward& n) {
  return {(n.dy() - along_last(n.dy() * n.y())) * n.y()};
}

std::vector<Output> of_log_softmax(const Forward& n) {
  return {n.dy() - along_last(n.dy()) * f("Exp", n.y())};
}

// The second output is the derivative for a gradient of one; its own is the softmax's.
Output to_logits(const Forward& n) {
  const Output softmax = f("Softmax", n.x(0)), back = n.dy(1);
  const Output second = (back - along_last(back * softmax)) * softmax;
  return columns(n.dy(0), n.y(1)) + second;
}

std::vector<Output> of_bias_add_grad(const Forward& n) {
  const Output x = n.x(0);
  if (n.attr<std::string>("data_format") != "NCHW") return {f("BroadcastTo", n.dy(), shape_of(x))};
  const Output inner = f("Fill", f("Pack", f("Rank", x) - constant(2)), constant(1));
  const Output narrow = f("ConcatV2", shape_of(n.dy()), inner, constant(0));
  return {f("BroadcastTo", f("Reshape", n.dy(), narrow), shape_of(x))};
}

// A convolution is linear in the image and in the filters; the three are each other's gradients.
struct Convolution {
  const char *forward, *to_input, *to_filter;
  std::vector<std::string_view> attrs;

  void add(Rows& rows) const {
    rows.add(forward, [c = *this](const Forward& n) -> std::vector<Output> {
      return {op(c.to_input, {shape_of(n.x(0)), n.x(1), n.dy()}, n.attrs(c.attrs)),
              op(c.to_filter, {n.x(0), shape_of(n.x(1)), n.dy()}, n.attrs(c.attrs))};
    });
    rows.add(to_input, [c = *this](const Forward& n) -> std::vector<Output> {
      return {{}, op(c.to_filter, {n.dy(), shape_of(n.x(1)), n.x(2)}, n.attrs(c.attrs)),
              op(c.forward, {n.dy(), n.x(1)}, n.attrs(c.attrs))};
    });
    rows.add(to_filter, [c = *this](const Forward& n) -> std::vector<Output> {
      return {op(c.to_input, {shape_of(n.x(0)), n.dy(), n.x(2)}, n.attrs(c.attrs)), {},
              op(c.forward, {n.x(0), n.dy()}, n.attrs(c.attrs))};
    });
  }
};

const auto kPool = {std::string_view("ksize"), std::string_view("strides"),
                    std::string_view("padding"), std::string_view("data_format")};

std::vector<Output> of_batch_norm(const Forward& n) {
  const bool training = n.attr<bool>("is_training");
  const Output first = training ? n.y(3) : n.x(3), second = training ? n.y(4) : n.x(4);
  Node* back = op("FusedBatchNormGradV3", {n.dy(), n.x(0), n.x(1), first, second, n.y(5)},
                  n.attrs({"epsilon", "data_format", "is_training"})).node;
  return {back->output(0), back->output(1), back->output(2)};
}

}  // namespace

void add_nets(Rows& rows) {
  rows.add("Softmax", of_softmax);
  rows.add("LogSoftmax", of_log_softmax);
  rows.add("SoftmaxCrossEntropyWithLogits", [](const Forward& n) -> std::vector<Output> {
    return {to_logits(n), columns(n.dy(0), -f("LogSoftmax", n.x(0))) - n.dy(1)};
  });
  rows.add("SparseSoftmaxCrossEntropyWithLogits",
           [](const Forward& n) -> std::vector<Output> { return {to_logits(n)}; });
  rows.add("BiasAdd", [](const Forward& n) -> std::vector<Output> {
    return {n.dy(), op("BiasAddGrad", {n.dy()}, n.attrs({"data_format"}))};
  });
  rows.add("BiasAddGrad", of_bias_add_grad);
  const std::vector<std::string_view> conv = {"strides", "padding", "explicit_paddings",
                                              "data_format", "dilations"};
  Convolution{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", conv}.add(rows);
  Convolution{"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
              "DepthwiseConv2dNativeBackpropFilter", conv}.add(rows);
  Convolution{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2",
              {"strides", "padding", "data_format", "dilations"}}.add(rows);
  rows.add({"MaxPool", "MaxPool3D"}, [](const Forward& n) -> std::vector<Output> {
    return {op(n.node.type() + "Grad", {n.x(0), n.y(), n.dy()}, n.attrs(kPool))};
  });
  rows.add({"AvgPool", "AvgPool3D"}, [](const Forward& n) -> std::vector<Output> {
    return {op(n.node.type() + "Grad", {shape_of(n.x(0)), n.dy()}, n.attrs(kPool))};
  });
  rows.add("AvgPoolGrad", [](const Forward& n) -> std::vector<Output> {
    return {{}, op("AvgPool", {n.dy()}, n.attrs(kPool))};
  });
  rows.add("FusedBatchNormV3", of_batch_norm);
  rows.add("LRN", [](const Forward& n) -> std::vector<Output> {
    return {op("LRNGrad", {n.dy(), n.x(), n.y()},
               n.attrs({"depth_radius", "bias", "alpha", "beta"}))};
  });
  for (const char* resize : {"ResizeBilinear", "ResizeBicubic"})
    rows.add(resize, [](const Forward& n) -> std::vector<Output> {
      return {op(n.node.type() + "Grad", {n.dy(), n.x(0)},
                 n.attrs({"align_corners", "half_pixel_centers"}))};
    });
}

}  // namespace emplace::grad
