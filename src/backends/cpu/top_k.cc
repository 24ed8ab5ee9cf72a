// The k largest of each row, in order; all of them sort it.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/order.h"
#include "backends/cpu/radix_sort.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

// Finds the k first entries of rows, one row after the other, in memory of its own.
template <class T>
class Largest {
 public:
  using Entry = EntryOf<T>;

  Largest(int64_t n, int64_t k) : n_(n), k_(k) {
    if (n > kMostEntries) throw unimplemented("rows of more than 2^32 elements are not sorted");
    capacity_ = few() ? std::max<int64_t>(4 * k, 64) : n;
    entries_ = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(capacity_));
    if (!few()) spare_ = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(n));
  }

  // Valid until the next row.
  const Entry* of(const T* x) { return few() ? select(x) : sort(x); }

 private:
  bool few() const { return k_ <= n_ / 16; }

  const Entry* sort(const T* x) {
    for (int64_t i = 0; i < n_; ++i) entries_[static_cast<size_t>(i)] = Entry(descending_key(x[i]), i);
    return radix_sort(entries_.get(), spare_.get(), n_, static_cast<int>(sizeof(T)));
  }

  // Gathers what comes before the k-th so far; when there is no room, all but the k best go.
  const Entry* select(const T* x) {
    using Key = decltype(descending_key(x[0]));
    constexpr int64_t kBlock = 64;
    Key limit = std::numeric_limits<Key>::max();
    bool limited = false;
    int64_t held = 0;
    Pace pace;
    for (int64_t begin = 0; begin < n_; begin += kBlock) {
      pace.step();
      const int64_t end = std::min(n_, begin + kBlock);
      Key best = std::numeric_limits<Key>::max();
      for (int64_t i = begin; i < end; ++i) best = std::min(best, descending_key(x[i]));
      if (limited && best >= limit) continue;  // a tie goes to the one before
      for (int64_t i = begin; i < end; ++i) {
        const Key key = descending_key(x[i]);
        if (limited && key >= limit) continue;
        entries_[static_cast<size_t>(held++)] = Entry(key, i);
        if (held < capacity_) continue;
        std::nth_element(entries_.get(), entries_.get() + k_ - 1, entries_.get() + held);
        held = k_;
        limit = descending_key(x[entries_[static_cast<size_t>(k_ - 1)].place()]);
        limited = true;
      }
    }
    Entry* const first = entries_.get();
    std::partial_sort(first, first + k_, first + held);
    return first;
  }

  const int64_t n_, k_;
  int64_t capacity_;
  std::unique_ptr<Entry[]> entries_, spare_;
};

template <class T, class Index>
void largest_of_rows(KernelContext& c, const Tensor& in, int64_t k, Tensor& values,
                     Tensor& indices) {
  const int64_t n = in.dim(in.rank() - 1);
  const double cost = k <= n / 16 ? 1.0 : 12.0;
  c.parallel_for(in.num_elements() / n, cost * static_cast<double>(n), [&](int64_t b, int64_t e) {
    Largest<T> largest(n, k);
    for (int64_t r = b; r < e; ++r) {
      const T* x = in.data<T>() + r * n;
      const auto* order = largest.of(x);
      T* value = values.data<T>() + r * k;
      Index* index = indices.data<Index>() + r * k;
      for (int64_t i = 0; i < k; ++i) {
        value[i] = x[order[i].place()];
        index[i] = static_cast<Index>(order[i].place());
      }
    }
  });
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
    visit_dtype(indices.dtype(), Types<int16_t, int32_t, int64_t>{}, [&](auto index) {
      largest_of_rows<T, typename decltype(index)::type>(c, in, k, values, indices);
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

}  // namespace

std::vector<KernelRow> top_k_kernels() {
  const auto reals = Reals::dtypes();
  return {row("TopK", reals, make_top_k),
          row("ApproxTopK", {DType::kHalf, DType::kBfloat16, DType::kFloat}, make_approximate),
          row("TopKV2", reals, stateless<top_k_v2>)};
}

}  // namespace emplace::cpu
