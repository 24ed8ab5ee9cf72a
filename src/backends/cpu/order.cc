// Counts and orders: histograms, the largest, each value once, where values would go.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Weights = Types<int32_t, int64_t, float, double>;

// Counts ids [0, size), or adds their weights; larger ids are left out.
template <class T>
void count_row(const int64_t* ids, int64_t n, const T* weights, bool binary, T* bins,
               int64_t size) {
  for (const int64_t i : paced(n)) {
    if (ids[i] < 0) throw invalid_argument("Input arr must be non-negative!");
    if (ids[i] >= size) continue;
    if (binary)
      bins[ids[i]] = T(1);
    else
      bins[ids[i]] = static_cast<T>(static_cast<Wrap<T>>(bins[ids[i]]) +
                                    static_cast<Wrap<T>>(weights ? weights[i] : T(1)));
  }
}

void bincount_rows(KernelContext& c, int64_t rows, bool matrix, bool binary) {
  const Tensor &in = c.input(0), &weights = c.input(2);
  const int64_t size = int_scalar(c.input(1), "size");
  if (c.input(1).rank() != 0)
    throw invalid_argument("Shape must be rank 0 but is rank " + std::to_string(c.input(1).rank()));
  if (size < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", size));
  const bool weighted = weights.num_elements() > 0;
  if (weighted && !(weights.shape() == in.shape()))
    throw invalid_argument(
        fmt::format("`weights` must be the same shape as `arr` or a length-0 "
                    "`Tensor`, in which case it acts as all weights equal to 1. "
                    "Received {}",
                    weights.shape().str()));
  const Shape shape = matrix ? Shape{rows, size} : Shape{size};
  checked_elements(shape.dims());
  Tensor& out = c.output(0, shape);
  Mover(out.dtype()).zero(out, 0, out.num_elements());
  const auto ids = int_values(in);
  const int64_t n = rows ? in.num_elements() / rows : 0;
  visit_dtype(out.dtype(), Weights{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t r = 0; r < rows; ++r)
      count_row(ids.data() + r * n, n, weighted ? weights.data<T>() + r * n : nullptr, binary,
                out.data<T>() + r * size, size);
  });
}

void bincount(KernelContext& c) { bincount_rows(c, 1, false, false); }

struct DenseBincount {
  bool binary;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() > 2)
      throw invalid_argument("Shape must be at most rank 2 but is rank " +
                             std::to_string(in.rank()));
    bincount_rows(c, in.rank() == 2 ? in.dim(0) : 1, in.rank() == 2, binary);
  }
};
Prepared make_dense(const KernelInit& i) {
  return prepared(DenseBincount{i.attr<bool>("binary_output")});
}

void histogram(KernelContext& c) {
  const Tensor &values = c.input(0), &range = c.input(1);
  const int64_t bins = int_scalar(c.input(2), "nbins");
  if (range.rank() != 1 || range.num_elements() != 2)
    throw invalid_argument("value_range should be a vector of 2 elements.");
  if (bins <= 0)
    throw invalid_argument(fmt::format("nbins should be a positive number, but got '{}'", bins));
  checked_elements(std::vector<int64_t>{bins});
  Tensor& out = c.output(0, Shape{bins});
  Mover(out.dtype()).zero(out, 0, bins);
  visit_dtype(values.dtype(), Weights{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto low = static_cast<double>(range.data<T>()[0]),
               high = static_cast<double>(range.data<T>()[1]);
    if (!(low < high))
      throw invalid_argument("value_range should satisfy value_range[0] < value_range[1]");
    const double step = (high - low) / static_cast<double>(bins);
    for (const int64_t i : paced(values.num_elements())) {
      const double x = (static_cast<double>(values.data<T>()[i]) - low) / step;
      const int64_t bin = std::isnan(x) || x < 0
                              ? 0
                              : static_cast<int64_t>(std::min(x, static_cast<double>(bins - 1)));
      if (out.dtype() == DType::kInt32)
        ++out.data<int32_t>()[bin];
      else
        ++out.data<int64_t>()[bin];
    }
  });
}

// ---- The k largest.

template <class T>
void top_row(const T* x, int64_t n, int64_t k, std::vector<int64_t>& order) {
  using C = Compute<T>;
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Pace pace;
  auto before = [&](int64_t a, int64_t b) {  // NaN last, so that there is an order
    pace.step();
    const C u = static_cast<C>(x[a]), v = static_cast<C>(x[b]);
    if (u > v || u < v) return u > v;
    const bool nan_u = u != u, nan_v = v != v;
    return nan_u != nan_v ? nan_v : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
}

void put_index(Tensor& t, int64_t i, int64_t v) {
  if (t.dtype() == DType::kInt16)
    t.data<int16_t>()[i] = static_cast<int16_t>(v);
  else
    put_int(t, i, v);
}

void top_k_of(KernelContext& c, int64_t k) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) throw invalid_argument("input must be >= 1-D, got shape " + in.shape().str());
  const int64_t n = in.dim(in.rank() - 1);
  if (k < 0) throw invalid_argument(fmt::format("Need k >= 0, got {}", k));
  if (n < k)
    throw invalid_argument(
        fmt::format("input must have at least k columns. Had {}, needed {}", n, k));
  Shape shape = in.shape();
  shape.set_dim(in.rank() - 1, k);
  Tensor &values = c.output(0, shape), &indices = c.output(1, shape);
  if (values.num_elements() == 0) return;
  visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    c.parallel_for(in.num_elements() / n, 10.0 * static_cast<double>(n), [&](int64_t b, int64_t e) {
      std::vector<int64_t> order;
      for (int64_t r = b; r < e; ++r) {
        const T* x = in.data<T>() + r * n;
        top_row(x, n, k, order);
        for (int64_t i = 0; i < k; ++i) {
          values.data<T>()[r * k + i] = x[order[static_cast<size_t>(i)]];
          put_index(indices, r * k + i, order[static_cast<size_t>(i)]);
        }
      }
    });
  });
}

struct TopK {
  int64_t k;
  void operator()(KernelContext& c) const { top_k_of(c, k); }
};
Prepared make_approximate(const KernelInit& i) {
  if (!i.attr<bool>("is_max_k") || i.attr<int64_t>("reduction_dimension") != -1)
    throw unimplemented("ApproxTopK of the smallest, or over a dimension that is not the last");
  return prepared(TopK{i.attr<int64_t>("k")});
}
Prepared make_top_k(const KernelInit& i) { return prepared(TopK{i.attr<int64_t>("k")}); }
void top_k_v2(KernelContext& c) {
  if (c.input(1).rank() != 0)
    throw invalid_argument("k must be scalar, got shape " + c.input(1).shape().str());
  top_k_of(c, int_scalar(c.input(1), "k"));
}

void in_top_k_of(KernelContext& c, int64_t k) {
  const Tensor &predictions = c.input(0), &targets = c.input(1);
  if (predictions.rank() != 2) throw invalid_argument("predictions must be 2-dimensional");
  if (targets.rank() != 1) throw invalid_argument("targets must be 1-dimensional");
  if (predictions.dim(0) != targets.dim(0))
    throw invalid_argument(
        fmt::format("First dimension of predictions {} must match length of "
                    "targets {}",
                    predictions.dim(0), targets.dim(0)));
  const auto wanted = int_values(targets);
  const int64_t classes = predictions.dim(1);
  bool* out = c.output(0, targets.shape()).data<bool>();
  for (const size_t r : paced(wanted.size())) {
    const float* p = predictions.data<float>() + static_cast<int64_t>(r) * classes;
    bool fine = wanted[r] >= 0 && wanted[r] < classes && std::isfinite(p[wanted[r]]);
    int64_t above = 0;
    for (int64_t i = 0; fine && i < classes; ++i) {
      fine = std::isfinite(p[i]);
      above += p[i] > p[wanted[r]];
    }
    out[r] = fine && above < k;
  }
}
struct InTopK {
  int64_t k;
  void operator()(KernelContext& c) const { in_top_k_of(c, k); }
};
Prepared make_in_top_k(const KernelInit& i) { return prepared(InTopK{i.attr<int64_t>("k")}); }
void in_top_k_v2(KernelContext& c) { in_top_k_of(c, int_scalar(c.input(2), "k")); }

// ---- Each value once, in the order of appearance.

using Keys = Join<Plain, Types<std::string>>;

template <class T>
auto key_of(const T& x) {
  if constexpr (kIsSmallFloat<T>)
    return static_cast<float>(x);
  else
    return x;
}

template <class T>
std::vector<int64_t> first_places(const T* x, int64_t n, std::vector<int64_t>& index) {
  std::vector<int64_t> places;
  if constexpr (!kIsComplex<T>) {
    std::unordered_map<decltype(key_of(T())), int64_t> seen;
    seen.reserve(static_cast<size_t>(n));
    Pace pace;
    for (int64_t i = 0; i < n; ++i) {
      pace.step();
      auto [it, fresh] = seen.try_emplace(key_of(x[i]), static_cast<int64_t>(places.size()));
      if (fresh) places.push_back(i);
      index[static_cast<size_t>(i)] = it->second;
    }
  } else {
    throw unimplemented("Unique of complex numbers");
  }
  return places;
}

// Slices compared as wholes: by text of their bytes, which plain dtypes allow.
std::vector<int64_t> first_slices(const Tensor& rows, std::vector<int64_t>& index) {
  std::vector<int64_t> places;
  std::unordered_map<std::string, int64_t> seen;
  const int64_t n = rows.dim(0), inner = n ? rows.num_elements() / n : 0;
  const auto size = static_cast<int64_t>(dtype_size(rows.dtype()));
  Pace pace;
  for (int64_t i = 0; i < n; ++i) {
    pace.step();
    std::string key;
    if (is_plain(rows.dtype())) {
      key.assign(static_cast<const char*>(rows.raw()) + i * inner * size,
                 static_cast<size_t>(inner * size));
    } else {
      for (int64_t k = 0; k < inner; ++k) {
        const std::string& s = rows.data<std::string>()[i * inner + k];
        key += std::to_string(s.size()) + ":" + s;
      }
    }
    auto [it, fresh] = seen.try_emplace(std::move(key), static_cast<int64_t>(places.size()));
    if (fresh) places.push_back(i);
    index[static_cast<size_t>(i)] = it->second;
  }
  return places;
}

void put_unique(KernelContext& c, const std::vector<int64_t>& index, size_t found) {
  Tensor& out = c.output(1, Shape{static_cast<int64_t>(index.size())});
  for (const size_t i : paced(index.size())) put_int(out, static_cast<int64_t>(i), index[i]);
  if (c.num_outputs() < 3) return;
  std::vector<int64_t> counts(found, 0);
  for (int64_t k : index) ++counts[static_cast<size_t>(k)];
  Tensor& count = c.output(2, Shape{static_cast<int64_t>(found)});
  for (const size_t i : paced(found)) put_int(count, static_cast<int64_t>(i), counts[i]);
}

void unique_values(KernelContext& c) {
  const Tensor& in = c.input(0);
  std::vector<int64_t> index(static_cast<size_t>(in.num_elements())), places;
  visit_dtype(in.dtype(), Keys{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    places = first_places(in.data<T>(), in.num_elements(), index);
  });
  Tensor& out = c.output(0, Shape{static_cast<int64_t>(places.size())});
  const Mover mover(in.dtype());
  for (const size_t i : paced(places.size()))
    mover.copy(out, static_cast<int64_t>(i), in, places[i], 1);
  put_unique(c, index, places.size());
}

void unique(KernelContext& c) {
  if (c.input(0).rank() != 1) throw invalid_argument("unique expects a 1D vector.");
  unique_values(c);
}

void unique_v2(KernelContext& c) {
  const Tensor &in = c.input(0), &axis = c.input(1);
  if (axis.rank() != 1 || axis.num_elements() > 1)
    throw invalid_argument("axis expects a 1D vector, with at most one element");
  if (axis.num_elements() == 0) return unique(c);
  const int at = checked_axis(int_values(axis)[0], in.rank(), "axis");
  if (in.rank() == 1) return unique_values(c);
  std::vector<int> perm = {at};
  for (int i = 0; i < in.rank(); ++i)
    if (i != at) perm.push_back(i);
  Shape turned_shape;
  for (int d : perm) turned_shape.push_back(in.dim(d));
  Tensor rows = c.temp(in.dtype(), turned_shape);
  transpose_elements(c, in, perm, rows);
  std::vector<int64_t> index(static_cast<size_t>(in.dim(at)));
  const auto places = first_slices(rows, index);
  Shape found = turned_shape, result = in.shape();
  found.set_dim(0, static_cast<int64_t>(places.size()));
  result.set_dim(at, static_cast<int64_t>(places.size()));
  Tensor kept = c.temp(in.dtype(), found);
  const int64_t inner = in.dim(at) ? rows.num_elements() / in.dim(at) : 0;
  const Mover mover(in.dtype());
  for (const size_t i : paced(places.size()))
    mover.copy(kept, static_cast<int64_t>(i) * inner, rows, places[i] * inner, inner);
  std::vector<int> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  Tensor& out = c.output(0, result);
  transpose_elements(c, kept, back, out);
  put_unique(c, index, places.size());
}

template <bool kUpper>
void bound(KernelContext& c) {
  const Tensor &sorted = c.input(0), &values = c.input(1);
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.dim(0) != values.dim(0))
    throw invalid_argument("Leading dim_size of both tensors must match, and both be 2-D");
  Tensor& out = c.output(0, values.shape());
  const int64_t n = sorted.dim(1), m = values.dim(1);
  visit_dtype(sorted.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    for (const int64_t i : paced(values.num_elements())) {
      const T *begin = sorted.data<T>() + i / m * n, *end = begin + n;
      const C v = static_cast<C>(values.data<T>()[i]);
      const T* at = kUpper ? std::upper_bound(begin, end, v,
                                              [](C a, const T& b) { return a < static_cast<C>(b); })
                           : std::lower_bound(begin, end, v, [](const T& a, C b) {
                               return static_cast<C>(a) < b;
                             });
      put_int(out, i, at - begin);
    }
  });
}

}  // namespace

std::vector<KernelRow> order_kernels() {
  const auto reals = Reals::dtypes(), weights = Weights::dtypes();
  const auto keys = Join<Join<Reals, Types<bool>>, Types<std::string>>::dtypes();
  return {
      row("Bincount", weights, stateless<bincount>),
      row("DenseBincount", weights, make_dense),
      row("HistogramFixedWidth", weights, stateless<histogram>),
      row("TopK", reals, make_top_k),
      row("ApproxTopK", {DType::kHalf, DType::kBfloat16, DType::kFloat}, make_approximate),
      row("TopKV2", reals, stateless<top_k_v2>),
      row("InTopK", make_in_top_k),
      row("InTopKV2", stateless<in_top_k_v2>),
      row("Unique", keys, stateless<unique>),
      row("UniqueV2", keys, stateless<unique_v2>),
      row("UniqueWithCounts", keys, stateless<unique>),
      row("UniqueWithCountsV2", keys, stateless<unique_v2>),
      row("LowerBound", reals, stateless<bound<false>>),
      row("UpperBound", reals, stateless<bound<true>>)};
}

}  // namespace emplace::cpu
