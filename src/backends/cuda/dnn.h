#pragma once
#include <cudnn.h>

#include <array>
#include <string_view>

#include "backends/cuda/launch.h"

namespace emplace::cuda {

void check(cudnnStatus_t result, std::string_view what);
cudnnDataType_t dnn_type(DType t);

// The card's cuDNN handle, set to the stream of the call being made. One call at a time holds it.
class Dnn {
 public:
  explicit Dnn(Gpu& gpu);
  operator cudnnHandle_t() const { return handle_; }

 private:
  std::unique_lock<std::mutex> lock_;
  cudnnHandle_t handle_;
};

// Descriptions, destroyed with their owner.
struct TensorDesc {
  cudnnTensorDescriptor_t get = nullptr;
  TensorDesc() { check(cudnnCreateTensorDescriptor(&get), "cuDNN"); }
  ~TensorDesc() { cudnnDestroyTensorDescriptor(get); }
  TensorDesc(const TensorDesc&) = delete;
  void set(bool channels_first, DType t, int64_t n, int64_t c, int64_t h, int64_t w);
};

// How a window moves over one image: sizes by axis (0: rows, 1: columns), TensorFlow's rules for
// padding.
struct Window {
  int64_t batch = 0, channels = 0;
  std::array<int64_t, 2> in{}, out{}, size{}, stride{}, dilation{1, 1}, before{}, after{};
  bool channels_first = false;

  Window() = default;
  // Reads data_format, strides, dilations, padding and explicit_paddings.
  explicit Window(const KernelInit& init);
  // The window at work on `image` with a window of `size`.
  Window on(const Shape& image, std::array<int64_t, 2> size) const;
  bool symmetric() const { return before == after; }
  Shape image_shape(std::array<int64_t, 2> extent, int64_t channels_now) const;

  std::string padding;
  std::vector<int64_t> explicit_padding;
};

}  // namespace emplace::cuda
