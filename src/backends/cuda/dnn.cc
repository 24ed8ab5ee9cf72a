#include "backends/cuda/dnn.h"

#include <fmt/format.h>

namespace emplace::cuda {

void check(cudnnStatus_t result, std::string_view what) {
  if (result == CUDNN_STATUS_SUCCESS) [[likely]] return;
  throw internal_error(fmt::format("cuDNN: {}: {}", what, cudnnGetErrorString(result)));
}

cudnnDataType_t dnn_type(DType t) {
  switch (t) {
    case DType::kFloat: return CUDNN_DATA_FLOAT;
    case DType::kDouble: return CUDNN_DATA_DOUBLE;
    case DType::kHalf: return CUDNN_DATA_HALF;
    case DType::kBfloat16: return CUDNN_DATA_BFLOAT16;
    default: throw unimplemented("cuDNN has no such dtype");
  }
}

Dnn::Dnn(Gpu& gpu) : lock_(gpu.dnn_mutex()), handle_(static_cast<cudnnHandle_t>(gpu.dnn())) {
  check(cudnnSetStream(handle_, gpu.stream()), "choosing a stream");
}

void TensorDesc::set(bool channels_first, DType t, int64_t n, int64_t c, int64_t h, int64_t w) {
  check(cudnnSetTensor4dDescriptor(get, channels_first ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC,
                                   dnn_type(t), static_cast<int>(n), static_cast<int>(c),
                                   static_cast<int>(h), static_cast<int>(w)),
        "describing a tensor");
}

Window::Window(const KernelInit& init) {
  const AttrValue* format = init.find("data_format");
  channels_first = format && format->as<std::string>() == "NCHW";
  const int first = channels_first ? 2 : 1;
  auto spatial = [&](const char* name, std::array<int64_t, 2>& to) {
    const AttrValue* v = init.find(name);
    if (!v) return;
    const auto& list = v->as<std::vector<int64_t>>();
    if (list.size() == 4)
      to = {list[static_cast<size_t>(first)], list[static_cast<size_t>(first) + 1]};
  };
  spatial("strides", stride);
  spatial("dilations", dilation);
  spatial("ksize", size);
  padding = init.attr<std::string>("padding");
  if (const AttrValue* v = init.find("explicit_paddings"))
    explicit_padding = v->as<std::vector<int64_t>>();
}

Window Window::on(const Shape& image, std::array<int64_t, 2> window) const {
  if (image.rank() != 4)
    throw invalid_argument("input must be 4-dimensional: " + image.str());
  Window w = *this;
  const int first = channels_first ? 2 : 1;
  w.size = window;
  w.batch = image[0];
  w.channels = image[channels_first ? 1 : 3];
  for (size_t d = 0; d < 2; ++d) {
    w.in[d] = image[first + static_cast<int>(d)];
    const int64_t reach = (window[d] - 1) * dilation[d] + 1;
    int64_t total = 0;
    if (padding == "SAME") {
      w.out[d] = (w.in[d] + stride[d] - 1) / stride[d];
      total = std::max<int64_t>(0, (w.out[d] - 1) * stride[d] + reach - w.in[d]);
      w.before[d] = total / 2;
      w.after[d] = total - total / 2;
    } else {
      if (padding == "EXPLICIT" && explicit_padding.size() == 8) {
        const size_t at = 2 * (static_cast<size_t>(first) + d);
        w.before[d] = explicit_padding[at];
        w.after[d] = explicit_padding[at + 1];
      }
      w.out[d] = (w.in[d] + w.before[d] + w.after[d] - reach + stride[d]) / stride[d];
    }
    if (w.out[d] < 0 || w.in[d] + w.before[d] + w.after[d] < reach)
      throw invalid_argument(fmt::format("Computed output size would be negative: input {}, window "
                                         "{}, stride {}", w.in[d], reach, stride[d]));
  }
  return w;
}

Shape Window::image_shape(std::array<int64_t, 2> extent, int64_t now) const {
  return channels_first ? Shape{batch, now, extent[0], extent[1]}
                        : Shape{batch, extent[0], extent[1], now};
}

}  // namespace emplace::cuda
