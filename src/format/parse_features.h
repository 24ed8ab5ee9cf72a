#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emplace/proto/example.pb.h"
#include "kernel/kernel.h"

namespace emplace {

inline std::vector<std::string> texts(const Tensor& t) {
  const auto values = t.values<std::string>();
  return {values.begin(), values.end()};
}

// As messages about features name it.
inline std::string_view feature_type(DType dtype) {
  return dtype == DType::kFloat ? "float" : dtype_name(dtype);
}

// One feature's values, as the list that they come in.
class FeatureValues {
 public:
  FeatureValues(const proto::Feature* feature, DType dtype)
      : feature_(feature && feature->kind_case() ? feature : nullptr), dtype_(dtype) {}
  bool fits() const { return !feature_ || held() == dtype_; }
  DType held() const {
    return feature_->has_float_list()   ? DType::kFloat
           : feature_->has_int64_list() ? DType::kInt64
                                        : DType::kString;
  }
  bool missing() const { return !feature_; }
  int64_t size() const {
    if (!feature_) return 0;
    if (dtype_ == DType::kFloat) return feature_->float_list().value_size();
    if (dtype_ == DType::kInt64) return feature_->int64_list().value_size();
    return feature_->bytes_list().value_size();
  }
  void copy(Tensor& to, int64_t at) const {
    for (int i = 0; i < static_cast<int>(size()); ++i) {
      if (dtype_ == DType::kFloat) to.data<float>()[at + i] = feature_->float_list().value(i);
      else if (dtype_ == DType::kInt64)
        to.data<int64_t>()[at + i] = feature_->int64_list().value(i);
      else to.data<std::string>()[at + i] = feature_->bytes_list().value(i);
    }
  }

 private:
  const proto::Feature* feature_;
  DType dtype_;
};

// Named lists of values, once for each example of a call; one alone has no dimension for that.
class FeatureBatch {
 public:
  FeatureBatch(std::vector<const proto::Features*> examples, bool single)
      : single_(single), examples_(std::move(examples)) {}
  int64_t size() const { return static_cast<int64_t>(examples_.size()); }

  void put_sparse(KernelContext& c, int indices_at, int values_at, int shape_at,
                  const std::string& key, DType dtype) const {
    const std::vector<FeatureValues> all = features(key, dtype, false);
    int64_t count = 0, longest = 0;
    for (const FeatureValues& v : all) {
      count += v.size();
      longest = std::max(longest, v.size());
    }
    const int64_t rank = single_ ? 1 : 2;
    Tensor &indices = c.output(indices_at, Shape{count, rank}),
           &values = c.output(values_at, Shape{count});
    int64_t at = 0;
    for (size_t b = 0; b < all.size(); ++b) {
      all[b].copy(values, at);
      for (int64_t i = 0; i < all[b].size(); ++i, ++at) {
        int64_t* place = indices.data<int64_t>() + at * rank;
        if (!single_) *place++ = static_cast<int64_t>(b);
        *place = i;
      }
    }
    Tensor& shape = c.output(shape_at, Shape{rank});
    if (!single_) shape.data<int64_t>()[0] = size();
    shape.data<int64_t>()[rank - 1] = longest;
  }

  // A first dimension that is not known takes as much as the longest example has.
  void put_dense(KernelContext& c, int output, const std::string& key, const Shape& shape,
                 const Tensor& rest) const {
    const DType dtype = c.output_type(output);
    const std::vector<FeatureValues> all = features(key, dtype, true);
    int64_t each = 1;
    const bool open = shape.has_rank() && shape.rank() > 0 && shape[0] < 0;
    for (int d = open ? 1 : 0; d < shape.rank(); ++d)
      if (__builtin_mul_overflow(each, shape[d], &each))
        throw invalid_argument("a dense feature is too large");
    int64_t first = 0;
    if (open)
      for (const FeatureValues& v : all) first = std::max(first, each > 0 ? v.size() / each : 0);
    Shape full;
    if (!single_) full.push_back(size());
    for (int d = 0; d < shape.rank(); ++d) full.push_back(open && d == 0 ? first : shape[d]);
    Tensor& out = c.output(output, full);
    const int64_t row = open ? each * first : each;
    for (size_t b = 0; b < all.size(); ++b)
      put_row(out, static_cast<int64_t>(b), row, all[b], key, open ? Shape{-1} : shape, each, rest);
  }

  void put_ragged(KernelContext& c, int values_at, int splits_at, const std::string& key) const {
    const std::vector<FeatureValues> all = features(key, c.output_type(values_at), false);
    int64_t count = 0;
    for (const FeatureValues& v : all) count += v.size();
    Tensor& values = c.output(values_at, Shape{count});
    Tensor& splits = c.output(splits_at, Shape{size() + 1});
    auto put = [&](int64_t i, int64_t v) {
      if (splits.dtype() == DType::kInt32) splits.data<int32_t>()[i] = static_cast<int32_t>(v);
      else splits.data<int64_t>()[i] = v;
    };
    put(0, 0);
    int64_t at = 0;
    for (size_t b = 0; b < all.size(); ++b) {
      all[b].copy(values, at);
      at += all[b].size();
      put(static_cast<int64_t>(b) + 1, at);
    }
  }

 private:
  std::vector<FeatureValues> features(const std::string& key, DType dtype, bool dense) const {
    std::vector<FeatureValues> all;
    for (const proto::Features* e : examples_) {
      const auto& map = e->feature();
      const auto it = map.find(key);
      const FeatureValues& v = all.emplace_back(it == map.end() ? nullptr : &it->second, dtype);
      if (v.fits()) continue;
      const std::string_view held = feature_type(v.held()), wanted = feature_type(dtype);
      refuse(key, static_cast<int64_t>(all.size()) - 1,
             "Data types don't match. " +
                 (dense ? fmt::format("Data type: {} but expected type: {}", held, wanted)
                        : fmt::format("Expected type: {}, Actual type: {}", wanted, held)));
    }
    return all;
  }

  // One alone has no name and no number.
  std::string name() const { return single_ ? "" : "Name: <unknown>, "; }
  [[noreturn]] void refuse(const std::string& key, int64_t example, const std::string& why) const {
    throw invalid_argument(fmt::format("{}Key: {}{}.  {}", name(), key,
                                       single_ ? "" : fmt::format(", Index: {}", example), why));
  }

  // Of a shape whose first dimension may be open: then as many pieces of `each` as there are.
  void put_row(Tensor& out, int64_t b, int64_t row, const FeatureValues& v, const std::string& key,
               const Shape& shape, int64_t each, const Tensor& rest) const {
    const bool open = shape.rank() > 0 && shape[0] < 0;
    Tensor flat = out.reshaped(Shape{out.num_elements()});
    int64_t filled = 0;
    if (!v.missing()) {
      const bool fits = open ? each > 0 && v.size() % each == 0 : v.size() == row;
      const std::string_view kind = v.held() == DType::kString ? "bytes" : feature_type(v.held());
      if (!fits && single_)
        refuse(key, b,
               fmt::format("Can't parse serialized Example: Some {}_list slice was not parsed.",
                           kind));
      if (!fits)
        refuse(key, b,
               fmt::format("Number of {} values != expected.  Values size: {} but output shape: {}",
                           kind, v.size(), open ? Shape{each}.str() : shape.str()));
      v.copy(flat, b * row);
      filled = v.size();
    } else if (!open) {
      if (rest.num_elements() == 0 && row > 0)
        throw invalid_argument(
            fmt::format("{}Feature: {} (data type: {}) is required but could not be found.", name(),
                        key, feature_type(out.dtype())));
      if (rest.num_elements() == row) {
        Tensor to = flat.slice(b * row, (b + 1) * row);
        copy_elements(to, rest.reshaped(Shape{row}));
        return;
      }
    }
    for (int64_t i = filled; i < row; ++i) {
      if (rest.num_elements() != 1)
        throw invalid_argument("Key: " + key + ".  the default does not fit");
      Tensor to = flat.slice(b * row + i, b * row + i + 1);
      copy_elements(to, rest.reshaped(Shape{1}));
    }
  }

  bool single_;
  std::vector<const proto::Features*> examples_;
};

}  // namespace emplace
