// Counts and orders: histograms, targets among the largest, where values would go.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/order.h"
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

// ---- Whether the target is among the k largest.

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

// ---- Where values would go.

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
  std::vector<KernelRow> rows = {
      row("Bincount", weights, stateless<bincount>),
      row("DenseBincount", weights, make_dense),
      row("HistogramFixedWidth", weights, stateless<histogram>),
      row("InTopK", make_in_top_k),
      row("InTopKV2", stateless<in_top_k_v2>),
      row("LowerBound", reals, stateless<bound<false>>),
      row("UpperBound", reals, stateless<bound<true>>)};
  for (auto part : {top_k_kernels, unique_kernels})
    for (KernelRow& one : part()) rows.push_back(std::move(one));
  return rows;
}

}  // namespace emplace::cpu
