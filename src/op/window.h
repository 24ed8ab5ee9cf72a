#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emplace/attr.h"
#include "emplace/shape.h"

namespace emplace {

// One dimension along which a window slides.
struct WindowDim {
  int64_t in = 0, size = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // zeros around the input
  int64_t out = 0;

  // The input's position of tap k in window o; outside [0, in) it is padding.
  int64_t at(int64_t o, int64_t k) const { return o * stride - before + k * dilation; }
};

// How a convolution or a pool moves over its input, as its attributes say: strides, dilations,
// padding, explicit_paddings, data_format.
class WindowAttrs {
 public:
  // `spatial` dimensions between batch and channels. `sizes` names the attribute that holds the
  // window's sizes, where there is one. Throws InvalidArgument in TensorFlow's words.
  WindowAttrs(const AttrList& attrs, int spatial, const char* op, const char* sizes = nullptr,
              const char* dilations = "dilations");

  int spatial() const { return spatial_; }
  int rank() const { return spatial_ + 2; }
  bool channels_first() const { return channels_first_; }
  int channel_dim() const { return channels_first_ ? 1 : spatial_ + 1; }
  int spatial_dim(int i) const { return channels_first_ ? 2 + i : 1 + i; }

  // Window and stride of dimension d of the input (batch and channels too).
  int64_t size(int d) const { return sizes_[static_cast<size_t>(d)]; }
  int64_t stride(int d) const { return strides_[static_cast<size_t>(d)]; }
  int64_t dilation(int d) const { return dilations_[static_cast<size_t>(d)]; }
  // Where window sizes and strides are inputs and not attributes.
  void set_sizes(std::vector<int64_t> sizes, std::vector<int64_t> strides);

  // The i-th spatial dimension over `in` elements with a window of `size`.
  WindowDim slide(int i, int64_t in, int64_t size) const;
  // Its number of windows; unknown when a size is.
  int64_t out_size(int i, int64_t in, int64_t size) const;

 private:
  enum class Padding { kValid, kSame, kExplicit };
  void read_padding(const AttrList& attrs);
  void check_positive() const;

  int spatial_;
  bool channels_first_ = false;
  Padding padding_ = Padding::kValid;
  std::vector<int64_t> sizes_, strides_, dilations_, explicit_;
};

}  // namespace emplace
