#pragma once
#include <array>

#include "kernel/kernel.h"
#include "op/window.h"

namespace emplace::cpu {

// A convolution with three spatial dimensions (those that a flat one lacks have size 1), channels
// last. The filter is [depth, height, width, in_channels / groups, out_channels].
struct ConvShape {
  std::array<WindowDim, 3> dims;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;

  int64_t in_pixels() const { return dims[0].in * dims[1].in * dims[2].in; }  // of one image
  int64_t out_pixels() const { return dims[0].out * dims[1].out * dims[2].out; }
  int64_t taps() const { return dims[0].size * dims[1].size * dims[2].size; }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  int64_t filter_elements() const { return taps() * group_in() * out_channels; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_pixels()) *
           static_cast<double>(taps() * group_in()) * static_cast<double>(out_channels);
  }
};

// On float, double or int32; no dimension is 0. How the work is cut depends on the shape only, and
// with it the order of every sum.
void conv_forward(KernelContext& c, DType dtype, const ConvShape& s, const void* x, const void* w,
                  void* y);
void conv_input_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* w,
                         const void* dy, void* dx);
void conv_filter_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                          const void* dy, void* dw);

// Through oneDNN, floats only; false where it is not built in or does not take the shape.
bool dnnl_conv_forward(KernelContext& c, const ConvShape& s, const float* x, const float* w,
                       float* y);
bool dnnl_conv_input_gradient(KernelContext& c, const ConvShape& s, const float* w, const float* dy,
                              float* dx);
bool dnnl_conv_filter_gradient(KernelContext& c, const ConvShape& s, const float* x,
                               const float* dy, float* dw);

// Each channel with filters of its own, [1, height, width, in_channels, multiplier]; float or
// double.
void depthwise_forward(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                       const void* w, void* y);
void depthwise_input_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* w,
                              const void* dy, void* dx);
void depthwise_filter_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                               const void* dy, void* dw);

}  // namespace emplace::cpu
