#include "op/window.h"

#include <algorithm>

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace {
namespace {

constexpr int64_t kMost = INT32_MAX;  // of any stride, rate, size or padding

std::vector<int64_t> ints(const AttrList& attrs, std::string_view name) {
  const AttrValue* v = find_attr(attrs, name);
  return v ? v->as<std::vector<int64_t>>() : std::vector<int64_t>{};
}
std::string word(const AttrList& attrs, std::string_view name) {
  const AttrValue* v = find_attr(attrs, name);
  return v ? v->as<std::string>() : std::string{};
}

void check_range(const std::vector<int64_t>& values, const char* what, int64_t least) {
  for (int64_t v : values) {
    if (v < least)
      throw invalid_argument(
          fmt::format("{} must be {} {}, but got {}", what, least ? ">" : ">=", 0, v));
    if (v > kMost) throw invalid_argument(fmt::format("{} is too large: {}", what, v));
  }
}

}  // namespace

WindowAttrs::WindowAttrs(const AttrList& attrs, int spatial, const char* op, const char* sizes,
                         const char* dilations)
    : spatial_(spatial), strides_(ints(attrs, "strides")), dilations_(ints(attrs, dilations)) {
  const std::string format = word(attrs, "data_format");
  channels_first_ = format.starts_with("NC");
  const auto n = static_cast<size_t>(rank());
  if (strides_.empty() && !find_attr(attrs, "strides")) strides_.assign(n, 1);
  if (strides_.size() != n)
    throw invalid_argument(
        fmt::format("{} on data format {} requires the stride attribute to "
                    "contain {} values, but got: {}",
                    op, format, n, strides_.size()));
  if (dilations_.empty()) dilations_.assign(n, 1);
  if (dilations_.size() != n)
    throw invalid_argument(
        fmt::format("{} requires the dilation attribute to contain {} values, "
                    "but got: {}",
                    op, n, dilations_.size()));
  sizes_.assign(n, 1);
  if (sizes && find_attr(attrs, sizes)) sizes_ = ints(attrs, sizes);
  if (sizes_.size() != n)
    throw invalid_argument(
        fmt::format("{} requires the {} attribute to contain {} values, but "
                    "got: {}",
                    op, sizes, n, sizes_.size()));
  check_positive();
  read_padding(attrs);
}

void WindowAttrs::check_positive() const {
  check_range(strides_, "Stride", 1);
  for (int64_t d : dilations_)
    if (d < 1 || d > kMost)
      throw invalid_argument(fmt::format("Dilation rate must be >= 1, but got {}", d));
  for (int64_t s : sizes_)
    if (s < 1 || s > kMost)
      throw invalid_argument(
          fmt::format("Sliding window ksize must be positive. The specified or "
                      "inferred ksize is: {}",
                      fmt::join(sizes_, ",")));
}

void WindowAttrs::read_padding(const AttrList& attrs) {
  const std::string padding = word(attrs, "padding");
  explicit_ = ints(attrs, "explicit_paddings");
  padding_ = padding == "SAME"       ? Padding::kSame
             : padding == "EXPLICIT" ? Padding::kExplicit
                                     : Padding::kValid;
  if (padding_ != Padding::kExplicit) {
    if (!explicit_.empty())
      throw invalid_argument(
          "explicit_paddings attribute must be empty if the padding attribute "
          "is not EXPLICIT");
    return;
  }
  const auto n = static_cast<size_t>(2 * rank());
  if (explicit_.size() != n)
    throw invalid_argument(
        fmt::format("explicit_paddings attribute must contain {} values, but "
                    "got: {}",
                    n, explicit_.size()));
  for (int64_t p : explicit_)
    if (p < 0) throw invalid_argument("All elements of explicit_paddings must be nonnegative");
  check_range(explicit_, "explicit_paddings", 0);
  for (int d : {0, channel_dim()})
    if (explicit_[static_cast<size_t>(2 * d)] || explicit_[static_cast<size_t>(2 * d + 1)])
      throw invalid_argument(
          "Nonzero explicit padding in the batch or depth dimensions is not "
          "supported");
}

void WindowAttrs::set_sizes(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  const auto n = static_cast<size_t>(rank());
  if (sizes.size() != n)
    throw invalid_argument(fmt::format("Sliding window ksize field must specify {} dimensions", n));
  if (strides.size() != n)
    throw invalid_argument(
        fmt::format("Sliding window stride field must specify {} dimensions", n));
  sizes_ = std::move(sizes);
  strides_ = std::move(strides);
  check_positive();
}

WindowDim WindowAttrs::slide(int i, int64_t in, int64_t size) const {
  const int d = spatial_dim(i);
  WindowDim w{.in = in, .size = size, .stride = stride(d), .dilation = dilation(d)};
  if (size > kMost || in > (int64_t{1} << 48))
    throw invalid_argument(fmt::format("A window of {} over {} elements is too large", size, in));
  const int64_t reach = size > 0 ? (size - 1) * w.dilation + 1 : 0;  // below 2^62
  if (padding_ == Padding::kSame) {
    w.out = (in + w.stride - 1) / w.stride;
    const int64_t padding = std::max<int64_t>(0, (w.out - 1) * w.stride + reach - in);
    w.before = padding / 2;
    w.after = padding - w.before;
    return w;
  }
  if (padding_ == Padding::kExplicit) {
    w.before = explicit_[static_cast<size_t>(2 * d)];
    w.after = explicit_[static_cast<size_t>(2 * d + 1)];
  }
  const int64_t padded = in + w.before + w.after;
  if (padded - reach + w.stride < 0 || padded < reach)
    throw invalid_argument(
        fmt::format("Negative dimension size caused by subtracting {} from {}", reach, padded));
  w.out = (padded - reach) / w.stride + 1;
  return w;
}

int64_t WindowAttrs::out_size(int i, int64_t in, int64_t size) const {
  const int d = spatial_dim(i);
  if (padding_ == Padding::kSame && in != Shape::kUnknown) return (in + stride(d) - 1) / stride(d);
  if (in == Shape::kUnknown || size == Shape::kUnknown) return Shape::kUnknown;
  return slide(i, in, size).out;
}

}  // namespace emplace
