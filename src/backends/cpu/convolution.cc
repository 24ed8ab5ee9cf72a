// Conv2D, Conv3D, DepthwiseConv2dNative and their gradients.
#include <fmt/format.h>

#include "backends/cpu/conv.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

void check_rank(const Shape& s, int rank, const char* what) {
  if (s.rank() != rank)
    throw invalid_argument(fmt::format("{} must be {}-dimensional: {}", what, rank, s.str()));
}

// Attributes that kernels refuse though shapes could be worked out.
void check_attrs(const WindowAttrs& w) {
  for (int d : {0, w.channel_dim()}) {
    if (w.stride(d) != 1)
      throw unimplemented(
          "Current implementation does not yet support strides in the batch and "
          "depth dimensions.");
    if (w.dilation(d) != 1)
      throw unimplemented(
          "Current implementation does not yet support dilations in the batch and "
          "depth dimensions.");
  }
}

// `in` as the attributes lay it out.
ConvShape conv_shape(const WindowAttrs& w, bool depthwise, const Shape& in, const Shape& filter) {
  check_rank(in, w.rank(), "convolution input");
  check_rank(filter, w.rank(), "convolution filter");
  ConvShape s;
  s.batch = in[0];
  s.in_channels = in[w.channel_dim()];
  const int64_t depth = filter[w.spatial()];
  if (depth <= 0)
    throw invalid_argument(fmt::format("filter depth must be stricly positive, got {}", depth));
  if (depthwise) {
    if (depth != s.in_channels)
      throw invalid_argument(
          fmt::format("input and filter must have the same depth: {} vs {}", s.in_channels, depth));
    s.groups = s.in_channels;
    checked_elements(std::array{depth, filter[w.spatial() + 1]});
    s.out_channels = depth * filter[w.spatial() + 1];
  } else {
    if (s.in_channels % depth != 0)
      throw invalid_argument(
          fmt::format("input depth must be evenly divisible by filter depth: {} "
                      "vs {}",
                      s.in_channels, depth));
    s.groups = std::max<int64_t>(1, s.in_channels / depth);
    s.out_channels = filter[w.spatial() + 1];
    if (s.out_channels % s.groups != 0)
      throw invalid_argument(
          fmt::format("output depth must be evenly divisible by number of groups: "
                      "{} vs {}",
                      s.out_channels, s.groups));
  }
  for (int i = 0; i < w.spatial(); ++i) {
    if (filter[i] < 1)
      throw invalid_argument(
          "filter must not have zero elements (i.e. all dimensions must be "
          "non-zero)");
    s.dims[static_cast<size_t>(3 - w.spatial() + i)] = w.slide(i, in[w.spatial_dim(i)], filter[i]);
  }
  for (int i = 0; i < 3 - w.spatial(); ++i)
    s.dims[static_cast<size_t>(i)] = {.in = 1, .size = 1, .out = 1};
  return s;
}

Shape out_shape(const WindowAttrs& w, const ConvShape& s) {
  Shape out = Shape::unknown_dims(w.rank());
  out.set_dim(0, s.batch);
  out.set_dim(w.channel_dim(), s.out_channels);
  for (int i = 0; i < w.spatial(); ++i)
    out.set_dim(w.spatial_dim(i), s.dims[static_cast<size_t>(3 - w.spatial() + i)].out);
  return out;
}

void check_out(const WindowAttrs& w, const ConvShape& s, const Shape& got, std::string_view op) {
  check_rank(got, w.rank(), "out_backprop");
  const Shape want = out_shape(w, s);
  if (got[0] != want[0])
    throw invalid_argument(
        fmt::format("{}: input and out_backprop must have the same batch size. "
                    "Input batch: {}, outbackprop batch: {}, batch_dim: 0",
                    op, want[0], got[0]));
  if (got[w.channel_dim()] != s.out_channels)
    throw invalid_argument(
        fmt::format("{}: filter and out_backprop must have the same out_depth", op));
  for (int i = 0; i < w.spatial(); ++i) {
    const int d = w.spatial_dim(i);
    if (got[d] != want[d])
      throw invalid_argument(
          fmt::format("{}: Size of out_backprop doesn't match computed: actual = "
                      "{}, computed = {} spatial_dim: {}",
                      op, got[d], want[d], d));
  }
}

bool is_empty(const ConvShape& s) {
  return s.batch == 0 || s.in_channels == 0 || s.out_channels == 0 || s.in_pixels() == 0 ||
         s.out_pixels() == 0;
}

void fill_zero(Tensor& t) {
  if (t.num_elements() > 0) std::memset(t.raw(), 0, t.bytes());
}

struct Forward {
  WindowAttrs w;
  bool depthwise;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    const ConvShape s = conv_shape(w, depthwise, in.shape(), filter.shape());
    Tensor& out = c.output(0, out_shape(w, s));
    if (is_empty(s)) return fill_zero(out);
    const Tensor x = wide_input(c, in, w.channels_first()), f = widened(c, filter);
    WideOutput y(c, out, w.channels_first());
    const auto run = depthwise ? depthwise_forward : conv_forward;
    run(c, x.dtype(), s, x.raw(), f.raw(), y.tensor().raw());
    y.finish();
  }
};

// A size given as a vector, or by a tensor that has it.
Shape given_shape(const Tensor& t, bool by_value) {
  return by_value ? shape_from(t, "sizes") : t.shape();
}

struct InputGradient {
  WindowAttrs w;
  bool depthwise, by_value;
  std::string op;
  Shape input_shape(KernelContext& c) const {
    Shape given = given_shape(c.input(0), by_value);
    const Tensor &filter = c.input(1), &out = c.input(2);
    if (given.rank() != w.spatial() || w.spatial() != 2 || depthwise) return given;
    check_rank(filter.shape(), w.rank(), "filter");
    check_rank(out.shape(), w.rank(), "out_backprop");
    Shape whole = Shape::unknown_dims(w.rank());
    whole.set_dim(0, out.dim(0));
    whole.set_dim(w.channel_dim(), filter.dim(w.spatial()));
    for (int i = 0; i < w.spatial(); ++i) whole.set_dim(w.spatial_dim(i), given[i]);
    return whole;
  }
  void operator()(KernelContext& c) const {
    const Tensor &filter = c.input(1), &gradient = c.input(2);
    const Shape shape = input_shape(c);
    const ConvShape s = conv_shape(w, depthwise, shape, filter.shape());
    check_out(w, s, gradient.shape(), op);
    Tensor& out = c.output(0, shape);
    if (is_empty(s)) return fill_zero(out);
    const Tensor dy = wide_input(c, gradient, w.channels_first()), f = widened(c, filter);
    WideOutput dx(c, out, w.channels_first());
    const auto run = depthwise ? depthwise_input_gradient : conv_input_gradient;
    run(c, dy.dtype(), s, f.raw(), dy.raw(), dx.tensor().raw());
    dx.finish();
  }
};

struct FilterGradient {
  WindowAttrs w;
  bool depthwise, by_value;
  std::string op;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &gradient = c.input(2);
    const Shape shape = given_shape(c.input(1), by_value);
    const ConvShape s = conv_shape(w, depthwise, in.shape(), shape);
    check_out(w, s, gradient.shape(), op);
    Tensor& out = c.output(0, shape);
    if (is_empty(s)) return fill_zero(out);
    const Tensor x = wide_input(c, in, w.channels_first());
    const Tensor dy = wide_input(c, gradient, w.channels_first());
    WideOutput dw(c, out, false);
    const auto run = depthwise ? depthwise_filter_gradient : conv_filter_gradient;
    run(c, x.dtype(), s, x.raw(), dy.raw(), dw.tensor().raw());
    dw.finish();
  }
};

template <int kSpatial, bool kDepthwise>
WindowAttrs attrs_of(const KernelInit& init) {
  WindowAttrs w(*init.attrs, kSpatial, init.op->name.c_str());
  check_attrs(w);
  return w;
}

template <int kSpatial, bool kDepthwise>
Prepared make_forward(const KernelInit& init) {
  return prepared(Forward{attrs_of<kSpatial, kDepthwise>(init), kDepthwise});
}
template <int kSpatial, bool kDepthwise, bool kByValue>
Prepared make_input_gradient(const KernelInit& init) {
  return prepared(
      InputGradient{attrs_of<kSpatial, kDepthwise>(init), kDepthwise, kByValue, init.op->name});
}
template <int kSpatial, bool kDepthwise, bool kByValue>
Prepared make_filter_gradient(const KernelInit& init) {
  return prepared(
      FilterGradient{attrs_of<kSpatial, kDepthwise>(init), kDepthwise, kByValue, init.op->name});
}

}  // namespace

std::vector<KernelRow> convolution_kernels() {
  const auto floats = Floats::dtypes();
  const auto with_ints = Join<Floats, Types<int32_t>>::dtypes();
  const auto old = Types<Half, float, double>::dtypes();
  return {
      row("Conv2D", with_ints, make_forward<2, false>),
      row("Conv2DBackpropInput", with_ints, make_input_gradient<2, false, true>),
      row("Conv2DBackpropInputV2", with_ints, make_input_gradient<2, false, false>),
      row("Conv2DBackpropFilter", floats, make_filter_gradient<2, false, true>),
      row("Conv2DBackpropFilterV2", floats, make_filter_gradient<2, false, false>),
      row("Conv3D", floats, make_forward<3, false>),
      row("Conv3DBackpropInput", old, make_input_gradient<3, false, false>),
      row("Conv3DBackpropInputV2", floats, make_input_gradient<3, false, true>),
      row("Conv3DBackpropFilter", old, make_filter_gradient<3, false, false>),
      row("Conv3DBackpropFilterV2", floats, make_filter_gradient<3, false, true>),
      row("DepthwiseConv2dNative", floats, make_forward<2, true>),
      row("DepthwiseConv2dNativeBackpropInput", floats, make_input_gradient<2, true, true>),
      row("DepthwiseConv2dNativeBackpropFilter", floats, make_filter_gradient<2, true, true>),
  };
}

}  // namespace emplace::cpu
