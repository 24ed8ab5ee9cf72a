#include "format/parse_kernels.h"

#include <fmt/format.h>

#include "emplace/proto/example.pb.h"

namespace emplace {
namespace {

// One feature's values, as the list that they come in.
class Values {
 public:
  Values(const proto::Feature* feature, DType dtype, const std::string& key)
      : feature_(feature), dtype_(dtype) {
    if (!feature || feature->kind_case() == proto::Feature::KIND_NOT_SET) {
      feature_ = nullptr;
      return;
    }
    const bool fits = (dtype == DType::kFloat && feature->has_float_list()) ||
                      (dtype == DType::kInt64 && feature->has_int64_list()) ||
                      (dtype == DType::kString && feature->has_bytes_list());
    if (!fits)
      throw invalid_argument(fmt::format("Key: {}.  Data types don't match. Expected type: {}", key,
                                         dtype_name(dtype)));
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

struct Wanted {
  std::vector<DType> sparse, dense, ragged;
  std::vector<Shape> dense_shapes;
};

// The examples of one call.
class Batch {
 public:
  Batch(const Tensor& serialized, bool single) : single_(single) {
    for (const std::string& s : serialized.values<std::string>()) {
      if (!examples_.emplace_back().ParseFromString(s))
        throw invalid_argument("Could not parse example input, value: '" + s + "'");
    }
  }
  int64_t size() const { return static_cast<int64_t>(examples_.size()); }

  void put_sparse(KernelContext& c, int indices_at, int values_at, int shape_at,
                  const std::string& key, DType dtype) const {
    const std::vector<Values> all = features(key, dtype);
    int64_t count = 0, longest = 0;
    for (const Values& v : all) {
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
    const std::vector<Values> all = features(key, dtype);
    int64_t each = 1;
    const bool open = shape.has_rank() && shape.rank() > 0 && shape[0] < 0;
    for (int d = open ? 1 : 0; d < shape.rank(); ++d)
      if (__builtin_mul_overflow(each, shape[d], &each))
        throw invalid_argument("a dense feature is too large");
    int64_t first = 0;
    if (open)
      for (const Values& v : all) first = std::max(first, each > 0 ? v.size() / each : 0);
    Shape full;
    if (!single_) full.push_back(size());
    for (int d = 0; d < shape.rank(); ++d) full.push_back(open && d == 0 ? first : shape[d]);
    Tensor& out = c.output(output, full);
    const int64_t row = open ? each * first : each;
    for (size_t b = 0; b < all.size(); ++b)
      put_row(out, static_cast<int64_t>(b), row, all[b], key, open, each, rest);
  }

  void put_ragged(KernelContext& c, int values_at, int splits_at, const std::string& key) const {
    const std::vector<Values> all = features(key, c.output_type(values_at));
    int64_t count = 0;
    for (const Values& v : all) count += v.size();
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
  std::vector<Values> features(const std::string& key, DType dtype) const {
    std::vector<Values> all;
    for (const proto::Example& e : examples_) {
      const auto& map = e.features().feature();
      const auto it = map.find(key);
      all.emplace_back(it == map.end() ? nullptr : &it->second, dtype, key);
    }
    return all;
  }

  static void put_row(Tensor& out, int64_t b, int64_t row, const Values& v, const std::string& key,
                      bool open, int64_t each, const Tensor& rest) {
    Tensor flat = out.reshaped(Shape{out.num_elements()});
    int64_t filled = 0;
    if (!v.missing()) {
      const bool fits = open ? each > 0 && v.size() % each == 0 : v.size() == row;
      if (!fits)
        throw invalid_argument(
            fmt::format("Key: {}.  Number of values != expected.  values size: {} but output "
                        "shape has {}",
                        key, v.size(), open ? each : row));
      v.copy(flat, b * row);
      filled = v.size();
    } else if (!open) {
      if (rest.num_elements() == 0 && row > 0)
        throw invalid_argument(
            fmt::format("Feature: {} (data type: {}) is required but could not be found.", key,
                        dtype_name(out.dtype())));
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
  std::vector<proto::Example> examples_;
};

void put_all(KernelContext& c, const Batch& batch, const Wanted& wanted,
             const std::vector<std::string>& sparse, const std::vector<std::string>& dense,
             const std::vector<std::string>& ragged, int defaults_at) {
  const auto n = static_cast<int>(wanted.sparse.size()), d = static_cast<int>(wanted.dense.size());
  const auto r = static_cast<int>(wanted.ragged.size());
  if (sparse.size() != wanted.sparse.size() || dense.size() != wanted.dense.size() ||
      ragged.size() != wanted.ragged.size() || wanted.dense_shapes.size() != wanted.dense.size())
    throw invalid_argument("as many keys as types are needed");
  if (c.num_outputs() != 3 * n + d + 2 * r)
    throw invalid_argument("num_sparse must be the number of sparse keys");
  for (const Shape& s : wanted.dense_shapes)
    for (int i = 0; i < (s.has_rank() ? s.rank() : 0); ++i)
      if (i > 0 && s[i] < 0)
        throw invalid_argument("only the first dimension of a dense feature may be unknown");
  for (int i = 0; i < n; ++i)
    batch.put_sparse(c, i, n + i, 2 * n + i, sparse[static_cast<size_t>(i)],
                     wanted.sparse[static_cast<size_t>(i)]);
  for (int i = 0; i < d; ++i) {
    const Shape& shape = wanted.dense_shapes[static_cast<size_t>(i)];
    if (!shape.has_rank()) throw invalid_argument("a dense feature needs a shape");
    batch.put_dense(c, 3 * n + i, dense[static_cast<size_t>(i)], shape, c.input(defaults_at + i));
  }
  for (int i = 0; i < r; ++i)
    batch.put_ragged(c, 3 * n + d + i, 3 * n + d + r + i, ragged[static_cast<size_t>(i)]);
}

std::vector<std::string> texts(const Tensor& t) {
  const auto values = t.values<std::string>();
  return {values.begin(), values.end()};
}

struct ParseExamples {
  Wanted wanted;
  void operator()(KernelContext& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1) throw invalid_argument("serialized must be a scalar or a vector");
    const Batch batch(serialized, serialized.rank() == 0);
    put_all(c, batch, wanted, texts(c.input(2)), texts(c.input(3)), texts(c.input(4)), 5);
  }
};
Prepared make_examples(const KernelInit& i) {
  return prepared(ParseExamples{{i.attr<std::vector<DType>>("sparse_types"),
                                 i.attr<std::vector<DType>>("Tdense"),
                                 i.attr<std::vector<DType>>("ragged_value_types"),
                                 i.attr<std::vector<Shape>>("dense_shapes")}});
}

// The first version, with a scalar for each key.
struct ParseExamplesV1 {
  Wanted wanted;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 1) throw invalid_argument("serialized must be a vector");
    const auto n = static_cast<int>(wanted.sparse.size());
    const auto d = static_cast<int>(wanted.dense.size());
    put_all(c, Batch(c.input(0), false), wanted, keys(c, 2, n), keys(c, 2 + n, d), {}, 2 + n + d);
  }
  static std::vector<std::string> keys(KernelContext& c, int first, int count) {
    std::vector<std::string> out;
    for (int i = first; i < first + count; ++i) {
      if (c.input(i).num_elements() != 1) throw invalid_argument("a key must be a scalar");
      out.push_back(c.input(i).data<std::string>()[0]);
    }
    return out;
  }
};
Prepared make_examples_v1(const KernelInit& i) {
  const auto& sparse = i.attr<std::vector<DType>>("sparse_types");
  const auto& dense = i.attr<std::vector<DType>>("Tdense");
  if (static_cast<int64_t>(sparse.size()) != i.attr<int64_t>("Nsparse") ||
      static_cast<int64_t>(dense.size()) != i.attr<int64_t>("Ndense"))
    throw invalid_argument("as many keys as types are needed");
  return prepared(ParseExamplesV1{{sparse, dense, {}, i.attr<std::vector<Shape>>("dense_shapes")}});
}

struct ParseOne {
  Wanted wanted;
  std::vector<std::string> sparse_keys, dense_keys;
  void operator()(KernelContext& c) const {
    if (c.input(0).num_elements() != 1) throw invalid_argument("serialized must be a scalar");
    put_all(c, Batch(c.input(0), true), wanted, sparse_keys, dense_keys, {}, 1);
  }
};
Prepared make_one(const KernelInit& i) {
  return prepared(ParseOne{{i.attr<std::vector<DType>>("sparse_types"),
                            i.attr<std::vector<DType>>("Tdense"),
                            {},
                            i.attr<std::vector<Shape>>("dense_shapes")},
                           i.attr<std::vector<std::string>>("sparse_keys"),
                           i.attr<std::vector<std::string>>("dense_keys")});
}

}  // namespace

void register_parse_kernels(KernelRegistry& r) {
  const auto add = [&](const char* op, KernelFactory make) {
    r.add({op, "CPU", {}, {}, make, {}, 0, ""});
  };
  add("ParseExample", make_examples_v1);
  add("ParseExampleV2", make_examples);
  add("ParseSingleExample", make_one);
}

}  // namespace emplace
