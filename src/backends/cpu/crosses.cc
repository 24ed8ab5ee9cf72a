// Features crossed: every combination of one value of each, row by row.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sparse.h"
#include "backends/cpu/string_hash.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

constexpr int64_t kMostCrosses = int64_t{1} << 26;

// One feature: the values that each row has.
struct Feature {
  Tensor values;
  std::vector<int64_t> begins;  // one more than rows
  // Sparse: values in the order they are listed; dense: a row's elements lie together.
  int64_t count(int64_t row) const {
    return begins[static_cast<size_t>(row) + 1] - begins[static_cast<size_t>(row)];
  }
  bool is_text() const { return values.dtype() == DType::kString; }
  std::string text(int64_t row, int64_t i) const {
    const int64_t at = begins[static_cast<size_t>(row)] + i;
    return is_text() ? values.data<std::string>()[at] : std::to_string(values.data<int64_t>()[at]);
  }
  // A number stands for itself.
  uint64_t hash(int64_t row, int64_t i) const {
    const int64_t at = begins[static_cast<size_t>(row)] + i;
    return is_text() ? fingerprint64(values.data<std::string>()[at])
                     : static_cast<uint64_t>(values.data<int64_t>()[at]);
  }
};

uint64_t mixed(uint64_t v) { return v ^ (v >> 47); }

// Two fingerprints as one.
uint64_t joined(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t result = a ^ kMul;
  result ^= mixed(b * kMul) * kMul;
  result *= kMul;
  result = mixed(result) * kMul;
  return mixed(result);
}

Feature dense_feature(const Tensor& t, int64_t rows) {
  if (t.rank() != 2)
    throw invalid_argument(
        fmt::format("Dense inputs should be a matrix but received shape {}", t.shape().str()));
  if (t.dim(0) != rows && rows >= 0)
    throw invalid_argument(fmt::format("Expected batch size {}, got {}", rows, t.dim(0)));
  Feature f{t, {}};
  for (int64_t r = 0; r <= t.dim(0); ++r) f.begins.push_back(r * t.dim(1));
  return f;
}

Feature sparse_feature(KernelContext& c, int indices, int values, int shape) {
  const Sparse s(c, indices, values, shape);
  if (s.rank() != 2)
    throw invalid_argument("Input shapes of sparse features should have two dimensions");
  if (s.dims[0] < 0 || s.dims[0] > kMostCrosses) throw invalid_argument("too many rows");
  Feature f{s.values, std::vector<int64_t>(static_cast<size_t>(s.dims[0]) + 1, 0)};
  int64_t last = 0;
  for (const int64_t i : paced(s.count())) {
    const int64_t row = s.index(i, 0);
    if (row < last) throw invalid_argument("indices of sparse features must be sorted by row");
    last = row;
    ++f.begins[static_cast<size_t>(row) + 1];
  }
  for (size_t r = 1; r < f.begins.size(); ++r) f.begins[r] += f.begins[r - 1];
  return f;
}

Feature ragged_feature(const Tensor& values, const Tensor& splits) {
  Feature f{values, int_values(splits)};
  if (values.rank() != 1 || splits.rank() != 1 || f.begins.empty() || f.begins.front() != 0 ||
      f.begins.back() != values.num_elements() || !std::is_sorted(f.begins.begin(), f.begins.end()))
    throw invalid_argument(
        "Invalid value for ragged_row_splits: they must start with 0, ascend, and "
        "end at the number of values");
  return f;
}

class Crossed {
 public:
  Crossed(std::vector<Feature> features, int64_t rows)
      : features_(std::move(features)), rows_(rows) {
    for (const Feature& f : features_)
      if (static_cast<int64_t>(f.begins.size()) != rows + 1)
        throw invalid_argument(fmt::format("Expected batch size {}, got {}", rows,
                                           static_cast<int64_t>(f.begins.size()) - 1));
    splits.push_back(0);
    for (const int64_t r : paced(rows)) splits.push_back(splits.back() + crosses(r));
  }
  int64_t crosses(int64_t row) const {
    int64_t n = features_.empty() ? 0 : 1;
    for (const Feature& f : features_)
      if (__builtin_mul_overflow(n, f.count(row), &n) || n > kMostCrosses)
        throw invalid_argument(
            "Too many feature crosses: the number of crosses must fit in memory");
    return n;
  }
  int64_t total() const {
    if (splits.back() > kMostCrosses) throw invalid_argument("Too many feature crosses");
    return splits.back();
  }
  // Calls f(choice) for every combination, the last feature's value changing fastest.
  template <class F>
  void each(F f) const {
    std::vector<int64_t> choice(features_.size());
    for (int64_t row = 0; row < rows_; ++row) {
      std::fill(choice.begin(), choice.end(), 0);
      for (int64_t n = splits[static_cast<size_t>(row)]; n < splits[static_cast<size_t>(row) + 1];
           ++n) {
        f(n, row, choice);
        for (size_t k = choice.size(); k-- > 0;) {
          if (++choice[k] < features_[k].count(row)) break;
          choice[k] = 0;
        }
      }
    }
  }
  std::string text(int64_t row, const std::vector<int64_t>& choice,
                   const std::string& between) const {
    std::string out;
    for (size_t k = 0; k < choice.size(); ++k) {
      if (k > 0) out += between;
      out += features_[k].text(row, choice[k]);
    }
    return out;
  }
  // Without a key the first value's own hash begins.
  uint64_t hash(int64_t row, const std::vector<int64_t>& choice,
                std::optional<uint64_t> key) const {
    for (size_t k = 0; k < choice.size(); ++k) {
      const uint64_t value = features_[k].hash(row, choice[k]);
      key = key ? joined(*key, value) : value;
    }
    return key.value_or(0);
  }

  std::vector<int64_t> splits;

 private:
  std::vector<Feature> features_;
  int64_t rows_;
};

int64_t bucket(uint64_t hash, int64_t buckets) {
  const auto n = buckets > 0 ? static_cast<uint64_t>(buckets) : static_cast<uint64_t>(INT64_MAX);
  return static_cast<int64_t>(hash % n);
}

// What is made of each combination.
struct Style {
  bool hashed = false;
  int64_t buckets = 0;
  std::optional<uint64_t> key;
  std::string between = "_X_";
};

void put_values(const Crossed& crossed, const Style& style, Tensor& out) {
  crossed.each([&](int64_t n, int64_t row, const std::vector<int64_t>& choice) {
    if (style.hashed)
      out.data<int64_t>()[n] = bucket(crossed.hash(row, choice, style.key), style.buckets);
    else
      out.data<std::string>()[n] = crossed.text(row, choice, style.between);
  });
}

Style style_of(const KernelInit& i) {
  Style s;
  if (!i.find("hashed_output")) return s;
  s.hashed = i.attr<bool>("hashed_output");
  s.buckets = i.attr<int64_t>("num_buckets");
  s.key = static_cast<uint64_t>(i.attr<int64_t>("hash_key"));
  const char* out = i.op->name == "RaggedCross" ? "out_values_type" : "out_type";
  if ((i.type(out) == DType::kInt64) != s.hashed)
    throw invalid_argument("the output's type must be int64 where it is hashed, string where not");
  return s;
}

struct RaggedCross {
  Style style;
  int64_t ragged, sparse, dense;
  std::string order;

  void operator()(KernelContext& c) const {
    const auto r = static_cast<int>(ragged), s = static_cast<int>(sparse);
    const int64_t rows = num_rows(c);
    std::vector<Feature> features;
    int at_ragged = 0, at_sparse = 0, at_dense = 0;
    for (char kind : order) {
      if (kind == 'R' && at_ragged < r) {
        features.push_back(ragged_feature(c.input(at_ragged), c.input(r + at_ragged)));
        ++at_ragged;
      } else if (kind == 'S' && at_sparse < s) {
        const int first = 2 * r + at_sparse++;
        features.push_back(sparse_feature(c, first, first + s, first + 2 * s));
      } else if (kind == 'D' && at_dense < dense) {
        features.push_back(dense_feature(c.input(2 * r + 3 * s + at_dense++), rows));
      } else {
        throw invalid_argument("input_order does not list the inputs");
      }
    }
    if (at_ragged != r || at_sparse != s || at_dense != dense)
      throw invalid_argument("input_order does not list the inputs");
    const Crossed crossed(std::move(features), rows);
    Tensor& values = c.output(0, Shape{crossed.total()});
    put_values(crossed, style, values);
    Tensor& splits = c.output(1, Shape{rows + 1});
    for (size_t i = 0; i < crossed.splits.size(); ++i)
      put_int(splits, static_cast<int64_t>(i), crossed.splits[i]);
  }

 private:
  int64_t num_rows(KernelContext& c) const {
    const auto r = static_cast<int>(ragged), s = static_cast<int>(sparse);
    if (ragged > 0) return c.input(r).num_elements() - 1;
    if (sparse > 0) {
      const Tensor& shape = c.input(2 * r + 2 * s);
      if (shape.num_elements() < 1) throw invalid_argument("sparse_shape must have two elements");
      return shape.data<int64_t>()[0];
    }
    return dense > 0 && c.input(0).rank() > 0 ? c.input(0).dim(0) : 0;
  }
};
Prepared make_ragged_cross(const KernelInit& i) {
  const auto count = [&](const char* attr) {
    return static_cast<int64_t>(i.attr<std::vector<DType>>(attr).size());
  };
  if (count("ragged_values_types") != count("ragged_splits_types") ||
      count("sparse_values_types") != i.attr<int64_t>("Nsparse"))
    throw invalid_argument("the lists of inputs differ in length");
  return prepared(RaggedCross{style_of(i), count("ragged_values_types"), i.attr<int64_t>("Nsparse"),
                              count("dense_types"), i.attr<std::string>("input_order")});
}

struct SparseCross {
  Style style;
  int64_t sparse, dense;
  enum { kV1, kV2, kHashed } version = kV1;

  void operator()(KernelContext& c) const {
    const auto n = static_cast<int>(sparse), d = static_cast<int>(dense);
    Style chosen = style;
    const int after = 3 * n + d;
    if (version == kV2) chosen.between = one_text(c.input(after));
    if (version == kHashed) {
      chosen.hashed = true;
      chosen.buckets = int_scalar(c.input(after), "num_buckets");
      if (c.input(after + 1).num_elements() != 1 || c.input(after + 2).num_elements() != 2)
        throw invalid_argument("strong_hash must be a scalar, and salt two numbers");
      if (*c.input(after + 1).data<bool>()) throw unimplemented("SparseCrossHashed: strong_hash");
    }
    const int64_t rows = num_rows(c);
    std::vector<Feature> features;
    for (int i = 0; i < n; ++i) features.push_back(sparse_feature(c, i, n + i, 2 * n + i));
    for (int i = 0; i < d; ++i) features.push_back(dense_feature(c.input(3 * n + i), rows));
    const Crossed crossed(std::move(features), rows);
    const int64_t total = crossed.total();
    Tensor &indices = c.output(0, Shape{total, 2}), &values = c.output(1, Shape{total});
    int64_t widest = 0;
    for (const int64_t r : paced(rows)) {
      const int64_t begin = crossed.splits[static_cast<size_t>(r)];
      const int64_t count = crossed.splits[static_cast<size_t>(r) + 1] - begin;
      widest = std::max(widest, count);
      for (int64_t k = 0; k < count; ++k) {
        indices.data<int64_t>()[(begin + k) * 2] = r;
        indices.data<int64_t>()[(begin + k) * 2 + 1] = k;
      }
    }
    put_values(crossed, chosen, values);
    int64_t* shape = c.output(2, Shape{2}).data<int64_t>();
    shape[0] = rows, shape[1] = widest;
  }

 private:
  static const std::string& one_text(const Tensor& t) {
    if (t.num_elements() != 1) throw invalid_argument("Input separator should be a scalar");
    return t.data<std::string>()[0];
  }
  int64_t num_rows(KernelContext& c) const {
    const auto n = static_cast<int>(sparse);
    if (sparse > 0) {
      const Tensor& shape = c.input(2 * n);
      if (shape.num_elements() != 2)
        throw invalid_argument("Input shapes should have two elements");
      return shape.data<int64_t>()[0];
    }
    return dense > 0 && c.input(0).rank() > 0 ? c.input(0).dim(0) : 0;
  }
};
Prepared make_sparse_cross(const KernelInit& i) {
  SparseCross s;
  s.style = style_of(i);
  s.sparse = i.attr<int64_t>("N");
  s.dense = static_cast<int64_t>(i.attr<std::vector<DType>>("dense_types").size());
  if (static_cast<int64_t>(i.attr<std::vector<DType>>("sparse_types").size()) != s.sparse)
    throw invalid_argument("the lists of inputs differ in length");
  if (i.op->name == "SparseCrossV2") s.version = SparseCross::kV2;
  if (i.op->name == "SparseCrossHashed") s.version = SparseCross::kHashed;
  // Numbers and texts both have hashes; texts alone are joined as texts.
  if (s.version == SparseCross::kV1 && i.type("internal_type") == DType::kString)
    for (const char* attr : {"sparse_types", "dense_types"})
      for (const DType t : i.attr<std::vector<DType>>(attr))
        if (t != DType::kString)
          throw invalid_argument(fmt::format("Inputs should be of internal type string but received {}",
                                             dtype_proto_name(t)));
  return prepared(s);
}

}  // namespace

std::vector<KernelRow> cross_kernels() {
  return {row("RaggedCross", make_ragged_cross), row("SparseCross", make_sparse_cross),
          row("SparseCrossV2", make_sparse_cross), row("SparseCrossHashed", make_sparse_cross)};
}

}  // namespace emplace::cpu
