#pragma once
#include "backends/cuda/launch.h"

namespace emplace::cuda {

// What is done to the normalised on its way out: a tensor is added, if there is one; then relu.
struct NormEnding {
  const void* side = nullptr;
  bool relu = false;
};
// The relu that came behind a normalisation, if there was one: it let through what was above zero
// with these.
struct NormRelu {
  const float *root = nullptr, *scale = nullptr,
              *shift = nullptr;  // as device/batch_norm.cuh's Behind
};

// Batch normalisation where channels come last: device/batch_norm.cuh. cuDNN has it for half precision
// only, and falls back to something thirty times slower.
class ChannelsLastNorm {
 public:
  ChannelsLastNorm(Gpu& gpu, DType type) : gpu_(gpu), type_(device_type(type)), size_(dtype_size(type)) {}

  // What a training step leaves behind of the batch; `mean` and `variance` are blended by `factor`.
  struct Figures {
    float *mean, *variance, *own_mean, *own_root;
  };
  void train(const Tensor& x, Tensor& y, const float* scale, const float* shift, const Figures& out,
             float epsilon, float factor, const NormEnding& ending = {}) const;
  void infer(const Tensor& x, Tensor& y, const float* scale, const float* shift, const float* mean,
             const float* variance, float epsilon) const;
  void grad(const Tensor& dy, const Tensor& x, Tensor& dx, const float* scale,
            const float* own_mean, const float* own_root, float* dscale, float* dshift,
            const NormRelu& relu = {}) const;

 private:
  struct Work;
  CUfunction get(const char* kernel, const Work& w, const std::string& more = "") const;

  Gpu& gpu_;
  std::string type_;
  size_t size_;
};

}  // namespace emplace::cuda
