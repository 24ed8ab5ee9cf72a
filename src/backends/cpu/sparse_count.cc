// Numbers counted, and sets by row.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/cpu/indices.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sparse.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Place = std::vector<int64_t>;
using Weighted = Types<int32_t, int64_t, float, double>;

// ---- Counts in a dense output: [size], or [rows, size].

template <class T>
void count_one(Tensor& out, int64_t row, int64_t value, const Tensor& weights, int64_t i,
               bool binary) {
  const int64_t size = out.dim(out.rank() - 1);
  if (value < 0) throw invalid_argument("Input must be non-negative");
  if (value >= size) return;
  T& to = out.data<T>()[row * size + value];
  if (binary) to = T{1};
  else to += weights.num_elements() > 0 ? weights.data<T>()[i] : T{1};
}

struct SparseBincount {
  bool binary;
  void operator()(KernelContext& c) const {
    const Sparse s(c, 0);
    const Tensor& weights = c.input(4);
    const int64_t size = int_scalar(c.input(3), "size");
    if (size < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", size));
    if (s.rank() != 1 && s.rank() != 2) throw invalid_argument("the input must have rank 1 or 2");
    if (weights.num_elements() > 0 && weights.num_elements() != s.count())
      throw invalid_argument("Weights must have the shape of the values, or none");
    Tensor& out = c.output(0, s.rank() == 2 ? Shape{s.dims[0], size} : Shape{size});
    visit_dtype(out.dtype(), Weighted{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(out.data<T>(), out.num_elements(), T{});
      for (const int64_t i : paced(s.count()))
        count_one<T>(out, s.rank() == 2 ? s.index(i, 0) : 0, index_at(s.values, i), weights, i,
                     binary);
    });
  }
};
Prepared make_sparse_bincount(const KernelInit& i) {
  return prepared(SparseBincount{i.attr<bool>("binary_output")});
}

// Row splits start at 0, never fall, and end at the number of values.
void check_splits(const Tensor& splits, int64_t values) {
  if (splits.rank() != 1 || splits.num_elements() < 1)
    throw invalid_argument("Splits must be a vector of at least one element");
  const int64_t rows = splits.num_elements() - 1;
  if (index_at(splits, 0) != 0)
    throw invalid_argument(
        fmt::format("Splits must start with 0, not with {}", index_at(splits, 0)));
  for (int64_t i = 0; i < rows; ++i)
    if (index_at(splits, i) > index_at(splits, i + 1))
      throw invalid_argument("Splits must be sorted in ascending order");
  if (index_at(splits, rows) != values)
    throw invalid_argument(
        fmt::format("Splits must end with the number of values, got {} instead of {}",
                    index_at(splits, rows), values));
}

struct RaggedBincount {
  bool binary;
  void operator()(KernelContext& c) const {
    const Tensor &splits = c.input(0), &values = c.input(1), &weights = c.input(3);
    const int64_t size = int_scalar(c.input(2), "size");
    if (size < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", size));
    check_splits(splits, values.num_elements());
    if (weights.num_elements() > 0 && weights.num_elements() != values.num_elements())
      throw invalid_argument("Weights must have the shape of the values, or none");
    const int64_t rows = splits.num_elements() - 1;
    Tensor& out = c.output(0, Shape{rows, size});
    visit_dtype(out.dtype(), Weighted{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(out.data<T>(), out.num_elements(), T{});
      Pace pace;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = index_at(splits, r); i < index_at(splits, r + 1); ++i)
          pace.step(), count_one<T>(out, r, index_at(values, i), weights, i, binary);
    });
  }
};
Prepared make_ragged_bincount(const KernelInit& i) {
  return prepared(RaggedBincount{i.attr<bool>("binary_output")});
}

// ---- Counts as a sparse tensor.

struct Counts {
  int64_t minlength, maxlength;
  bool binary;

  template <class T>
  struct Rows {
    std::vector<std::map<int64_t, T>> rows;
    int64_t largest = -1;
  };

  template <class T>
  void count(Rows<T>& to, int64_t row, int64_t value, const Tensor& weights, int64_t i) const {
    if (value < 0) throw invalid_argument("Input values must all be non-negative");
    to.largest = std::max(to.largest, value);
    if (maxlength > 0 && value >= maxlength) return;
    T& sum = to.rows[static_cast<size_t>(row)][value];
    if (binary) sum = T{1};
    else sum += weights.num_elements() > 0 ? weights.data<T>()[i] : T{1};
  }

  template <class T>
  void put(KernelContext& c, const Rows<T>& counted, bool batched) const {
    Places places(batched ? 2 : 1);
    std::vector<T> values;
    for (size_t r = 0; r < counted.rows.size(); ++r)
      for (const auto& [value, sum] : counted.rows[r]) {
        int64_t* place = places.add();
        if (batched) *place++ = static_cast<int64_t>(r);
        *place = value;
        values.push_back(sum);
      }
    int64_t width = std::max(counted.largest + 1, minlength);
    if (maxlength > 0) width = maxlength;
    Place dims{width};
    if (batched) dims.insert(dims.begin(), static_cast<int64_t>(counted.rows.size()));
    put_sparse(c, 0, places, dims, Tensor::vector(std::span<const T>(values)));
  }

  static void check_weights(const Tensor& weights, const Tensor& values) {
    if (weights.num_elements() > 0 && weights.shape() != values.shape())
      throw invalid_argument("Weights and data must have the same shape. Weight shape: " +
                             weights.shape().str() + "; values shape: " + values.shape().str());
  }
};
Counts counts_of(const KernelInit& i) {
  return {i.attr<int64_t>("minlength"), i.attr<int64_t>("maxlength"),
          i.attr<bool>("binary_output")};
}

struct DenseCount : Counts {
  void operator()(KernelContext& c) const {
    const Tensor &values = c.input(0), &weights = c.input(1);
    if (values.rank() < 1 || values.rank() > 2)
      throw invalid_argument("Input must be a 1 or 2-dimensional tensor. Got: " +
                             values.shape().str());
    check_weights(weights, values);
    const bool batched = values.rank() == 2;
    const int64_t rows = batched ? values.dim(0) : 1,
                  width = batched ? values.dim(1) : values.dim(0);
    visit_dtype(weights.dtype(), Weighted{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Rows<T> counted{std::vector<std::map<int64_t, T>>(static_cast<size_t>(rows))};
      for (const int64_t i : paced(values.num_elements()))
        count<T>(counted, i / width, index_at(values, i), weights, i);
      put(c, counted, batched);
    });
  }
};
Prepared make_dense_count(const KernelInit& i) { return prepared(DenseCount{counts_of(i)}); }

struct SparseCount : Counts {
  void operator()(KernelContext& c) const {
    const Sparse s(c, 0);
    check_weights(c.input(3), s.values);
    if (s.rank() != 1 && s.rank() != 2) throw invalid_argument("the input must have rank 1 or 2");
    const bool batched = s.rank() == 2;
    if (batched && s.dims[0] > (int64_t{1} << 30)) throw resource_exhausted("too many rows");
    visit_dtype(c.input(3).dtype(), Weighted{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Rows<T> counted{
          std::vector<std::map<int64_t, T>>(static_cast<size_t>(batched ? s.dims[0] : 1))};
      for (const int64_t i : paced(s.count()))
        count<T>(counted, batched ? s.index(i, 0) : 0, index_at(s.values, i), c.input(3), i);
      put(c, counted, batched);
    });
  }
};
Prepared make_sparse_count(const KernelInit& i) { return prepared(SparseCount{counts_of(i)}); }

struct RaggedCount : Counts {
  void operator()(KernelContext& c) const {
    const Tensor &splits = c.input(0), &values = c.input(1);
    check_weights(c.input(2), values);
    check_splits(splits, values.num_elements());
    const int64_t rows = splits.num_elements() - 1;
    visit_dtype(c.input(2).dtype(), Weighted{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Rows<T> counted{std::vector<std::map<int64_t, T>>(static_cast<size_t>(rows))};
      Pace pace;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = index_at(splits, r); i < index_at(splits, r + 1); ++i)
          pace.step(), count<T>(counted, r, index_at(values, i), c.input(2), i);
      put(c, counted, true);
    });
  }
};
Prepared make_ragged_count(const KernelInit& i) { return prepared(RaggedCount{counts_of(i)}); }

// ---- Sets.

using SetTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;
template <class T>
using Sets = std::map<Place, std::set<T>>;

template <class T>
Sets<T> dense_sets(const Tensor& t, Place& groups) {
  if (t.rank() < 2) throw invalid_argument(fmt::format("Input rank {} < 2.", t.rank()));
  for (int d = 0; d + 1 < t.rank(); ++d) groups.push_back(t.dim(d));
  const int64_t size = t.dim(t.rank() - 1);
  Sets<T> sets;
  for (const int64_t i : paced(t.num_elements())) {
    Place place(groups.size());
    int64_t rest = i / size;
    for (size_t d = groups.size(); d-- > 0; rest /= groups[d]) place[d] = rest % groups[d];
    sets[place].insert(t.data<T>()[i]);
  }
  return sets;
}

template <class T>
Sets<T> sparse_sets(const Sparse& s, Place& groups) {
  if (s.rank() < 2) throw invalid_argument(fmt::format("Input rank {} < 2.", s.rank()));
  groups.assign(s.dims.begin(), s.dims.end() - 1);
  Sets<T> sets;
  for (const int64_t i : paced(s.count())) {
    Place place = s.place(i);
    place.pop_back();
    sets[place].insert(s.values.data<T>()[i]);
  }
  return sets;
}

enum class JoinStrings { kAMinusB, kBMinusA, kIntersection, kUnion };

template <class T>
std::vector<T> combined(const std::set<T>& a, const std::set<T>& b, JoinStrings how) {
  std::vector<T> out;
  const auto to = std::back_inserter(out);
  switch (how) {
    case JoinStrings::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case JoinStrings::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case JoinStrings::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case JoinStrings::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

struct SetOperation {
  JoinStrings how;
  bool sparse_a, sparse_b;

  void operator()(KernelContext& c) const {
    visit_dtype(c.output_type(1), SetTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Place groups, others;
      const int second = sparse_a ? 3 : 1;
      const Sets<T> a =
          sparse_a ? sparse_sets<T>(Sparse(c, 0), groups) : dense_sets<T>(c.input(0), groups);
      const Sets<T> b = sparse_b ? sparse_sets<T>(Sparse(c, second), others)
                                 : dense_sets<T>(c.input(second), others);
      if (groups.size() != others.size() || (!sparse_a && !sparse_b && groups != others))
        throw invalid_argument("Mismatched group shapes of the sets");
      combine(c, a, b, groups);
    });
  }

  template <class T>
  void combine(KernelContext& c, const Sets<T>& a, const Sets<T>& b, Place dims) const {
    std::set<Place> keys;
    for (const auto* sets : {&a, &b})
      for (const auto& [place, set] : *sets) keys.insert(place);
    Places places(dims.size() + 1);
    std::vector<T> values;
    size_t longest = 0;
    static const std::set<T> kNone;
    for (const Place& key : keys) {
      const auto x = a.find(key), y = b.find(key);
      const std::vector<T> found =
          combined(x == a.end() ? kNone : x->second, y == b.end() ? kNone : y->second, how);
      longest = std::max(longest, found.size());
      for (size_t i = 0; i < found.size(); ++i) {
        *std::copy(key.begin(), key.end(), places.add()) = static_cast<int64_t>(i);
        values.push_back(found[i]);
      }
    }
    dims.push_back(static_cast<int64_t>(longest));
    put_sparse(c, 0, places, dims, Tensor::vector(std::span<const T>(values)));
  }
};

template <bool kSparseA, bool kSparseB>
Prepared make_set_operation(const KernelInit& i) {
  const auto& name = i.attr<std::string>("set_operation");
  static const std::map<std::string, JoinStrings> kNames = {{"a-b", JoinStrings::kAMinusB},
                                                     {"b-a", JoinStrings::kBMinusA},
                                                     {"intersection", JoinStrings::kIntersection},
                                                     {"union", JoinStrings::kUnion}};
  const auto it = kNames.find(name);
  if (it == kNames.end()) throw invalid_argument(fmt::format("Invalid set_operation {}.", name));
  return prepared(SetOperation{it->second, kSparseA, kSparseB});
}

void set_size(KernelContext& c) {
  visit_dtype(c.input(1).dtype(), SetTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Place groups;
    const Sets<T> sets = sparse_sets<T>(Sparse(c, 0), groups);
    Tensor& out = c.output(0, Shape(std::span<const int64_t>(groups)));
    std::fill_n(out.data<int32_t>(), out.num_elements(), 0);
    for (const auto& [place, set] : sets) {
      int64_t at = 0;
      for (size_t d = 0; d < groups.size(); ++d) at = at * groups[d] + place[d];
      out.data<int32_t>()[at] = static_cast<int32_t>(set.size());
    }
  });
}

}  // namespace

std::vector<KernelRow> sparse_count_kernels() {
  return {row("SparseBincount", make_sparse_bincount),
          row("RaggedBincount", make_ragged_bincount),
          row("DenseCountSparseOutput", make_dense_count),
          row("SparseCountSparseOutput", make_sparse_count),
          row("RaggedCountSparseOutput", make_ragged_count),
          row("DenseToDenseSetOperation", make_set_operation<false, false>),
          row("DenseToSparseSetOperation", make_set_operation<false, true>),
          row("SparseToSparseSetOperation", make_set_operation<true, true>),
          row("SetSize", stateless<set_size>)};
}

}  // namespace emplace::cpu
