// Small kernels of no family.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/loops.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/random.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/string_hash.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

void cross(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (!(a.shape() == b.shape()))
    throw invalid_argument(fmt::format("Both inputs must be of same shape: {} vs. {}",
                                       a.shape().str(), b.shape().str()));
  if (a.rank() < 1) throw invalid_argument("Input must be at least 1D" + a.shape().str());
  if (a.dim(a.rank() - 1) != 3)
    throw failed_precondition("Cross-products are only defined for 3-element vectors.");
  Tensor& out = c.output(0, a.shape());
  visit_dtype(a.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Wrap<Compute<T>>;
    auto at = [](const Tensor& t, int64_t i) {
      return static_cast<C>(static_cast<Compute<T>>(t.data<T>()[i]));
    };
    for (int64_t i = 0; i < a.num_elements(); i += 3)
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t x = i + (k + 1) % 3, y = i + (k + 2) % 3;
        out.data<T>()[i + k] = static_cast<T>(
            static_cast<Compute<T>>(at(a, x) * at(b, y) - at(a, y) * at(b, x)));
      }
  });
}

struct Bucketize {
  std::vector<float> boundaries;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    visit_dtype(in.dtype(), Types<float, double, int32_t, int64_t>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(in.num_elements(), 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          out.data<int32_t>()[i] = static_cast<int32_t>(
              std::upper_bound(boundaries.begin(), boundaries.end(), in.data<T>()[i]) -
              boundaries.begin());
      });
    });
  }
};
Prepared make_bucketize(const KernelInit& init) {
  const auto& boundaries = init.attr<std::vector<float>>("boundaries");
  if (!std::is_sorted(boundaries.begin(), boundaries.end()))
    throw invalid_argument("Expected sorted boundaries");
  return prepared(Bucketize{boundaries});
}

struct NthElement {
  bool reverse;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (c.input(1).rank() != 0)
      throw invalid_argument(
          fmt::format("N must be scalar but has rank {}", c.input(1).rank()));
    int64_t n = int_scalar(c.input(1), "n");
    if (n < 0) throw invalid_argument(fmt::format("n must be non-negative but is {}", n));
    if (in.rank() < 1)
      throw invalid_argument(
          fmt::format("Input must be at least rank 1 but is rank {}", in.rank()));
    const int64_t size = in.dim(in.rank() - 1);
    if (size <= n)
      throw invalid_argument(fmt::format("Input must have at least n+1={} columns", n + 1));
    if (reverse) n = size - n - 1;
    Tensor& out = c.output(0, Shape(in.shape().dims().first(static_cast<size_t>(in.rank() - 1))));
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = 5.0 * static_cast<double>(size);
      c.parallel_for(out.num_elements(), cost, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) {
          std::vector<T> row(in.data<T>() + i * size, in.data<T>() + (i + 1) * size);
          std::nth_element(row.begin(), row.begin() + n, row.end(), less<T>);
          out.data<T>()[i] = row[static_cast<size_t>(n)];
        }
      });
    });
  }
  // NaN comes last, so that there is an order at all.
  template <class T>
  static bool less(const T& a, const T& b) {
    const auto x = static_cast<Compute<T>>(a), y = static_cast<Compute<T>>(b);
    return x < y || (y != y && x == x);
  }
};
Prepared make_nth(const KernelInit& i) { return prepared(NthElement{i.attr<bool>("reverse")}); }

void timestamp(KernelContext& c) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  *c.output(0, Shape{}).data<double>() = std::chrono::duration<double>(now).count();
}

void forward(KernelContext& c) { c.set_output(0, c.input(0)); }
void deep_copy(KernelContext& c) { copy_elements(c.output(0, c.input(0).shape()), c.input(0)); }

void empty(KernelContext& c) {
  Tensor& out = c.output(0, shape_from(c.input(0)));
  if (is_plain(out.dtype())) Mover(out.dtype()).zero(out, 0, out.num_elements());
}

// ---- Rows of a copy, changed.

enum class Change { kSet, kAdd, kSubtract };

template <Change kChange>
void change_rows(KernelContext& c) {
  const Tensor &x = c.input(0), &rows = c.input(1), &v = c.input(2);
  if (x.rank() < 1 || x.rank() != v.rank()) throw invalid_argument("x and v must have one rank");
  if (rows.rank() != 1) throw invalid_argument("i must be a vector");
  for (int i = 1; i < x.rank(); ++i)
    if (x.dim(i) != v.dim(i)) throw invalid_argument("shape mismatch of x and v");
  if (v.dim(0) != rows.dim(0)) throw invalid_argument("i and v must have one length");
  Tensor& y = c.output(0, x.shape());
  copy_elements(y, x);
  const int64_t n = x.dim(0), inner = n ? x.num_elements() / n : 0;
  const auto wanted = int_values(rows);
  if (n == 0 && !wanted.empty()) throw invalid_argument("there is no row to change");
  const Mover mover(x.dtype());
  for (size_t k = 0; k < wanted.size(); ++k) {
    const int64_t to = ((wanted[k] % n + n) % n) * inner, from = static_cast<int64_t>(k) * inner;
    if (kChange == Change::kSet) {
      mover.copy(y, to, v, from, inner);
      continue;
    }
    visit_dtype(x.dtype(), Numbers{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = Wrap<Compute<T>>;
      for (int64_t i = 0; i < inner; ++i) {
        const auto a = static_cast<C>(static_cast<Compute<T>>(y.data<T>()[to + i]));
        const auto b = static_cast<C>(static_cast<Compute<T>>(v.data<T>()[from + i]));
        y.data<T>()[to + i] =
            static_cast<T>(static_cast<Compute<T>>(kChange == Change::kAdd ? a + b : a - b));
      }
    });
  }
}

void parallel_concat(KernelContext& c) {
  const Tensor& first = c.input(0);
  if (first.rank() < 1 || first.dim(0) != 1)
    throw invalid_argument("the inputs of ParallelConcat must have 1 row each");
  Shape shape = first.shape();
  shape.set_dim(0, c.num_inputs());
  Tensor& out = c.output(0, shape);
  const Mover mover(first.dtype());
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!(c.input(i).shape() == first.shape()))
      throw invalid_argument("the inputs of ParallelConcat must have one shape");
    mover.copy(out, i * first.num_elements(), c.input(i), 0, first.num_elements());
  }
}

void unravel_index(KernelContext& c) {
  const Tensor &indices = c.input(0), &dims_in = c.input(1);
  if (dims_in.rank() != 1) throw invalid_argument("The indices can only be scalar or vector.");
  if (indices.rank() > 1) throw invalid_argument("The indices can only be scalar or vector.");
  const auto dims = int_values(dims_in), at = int_values(indices);
  for (int64_t d : dims)
    if (d == 0) throw invalid_argument("Input dims cannot contain a dim of zero");
  const int64_t total = checked_elements(dims);
  const auto n = static_cast<int64_t>(dims.size()), count = indices.num_elements();
  Tensor& out = c.output(0, indices.rank() ? Shape{n, count} : Shape{n});
  for (const int64_t i : paced(count)) {
    int64_t rest = at[static_cast<size_t>(i)];
    if (rest < 0 || rest >= total) throw invalid_argument("index is out of bound as with dims");
    for (int64_t d = n - 1; d >= 0; --d) {
      const int64_t size = dims[static_cast<size_t>(d)];
      put_int(out, d * count + i, rest % size);
      rest /= size;
    }
  }
}

// FarmHash of each row's bytes.
void fingerprint(KernelContext& c) {
  const Tensor &in = c.input(0), &method = c.input(1);
  if (method.num_elements() != 1 || *method.data<std::string>() != "farmhash64")
    throw invalid_argument("Unsupported fingerprint method: only farmhash64 is known");
  if (in.rank() < 1) throw invalid_argument("data must have at least rank 1");
  const int64_t n = in.dim(0), each = n ? in.num_elements() / n : 0;
  uint8_t* out = c.output(0, Shape{n, 8}).data<uint8_t>();
  for (const int64_t i : paced(n)) {
    uint64_t hash;
    if (in.dtype() == DType::kString && each == 1) {
      hash = fingerprint64(in.data<std::string>()[i]);
    } else if (in.dtype() == DType::kString) {
      std::string all;
      for (int64_t k = 0; k < each; ++k) {
        const uint64_t one = fingerprint64(in.data<std::string>()[i * each + k]);
        all.append(reinterpret_cast<const char*>(&one), sizeof one);
      }
      hash = fingerprint64(all);
    } else {
      const size_t bytes = static_cast<size_t>(each) * dtype_size(in.dtype());
      const char* data = static_cast<const char*>(in.raw()) + static_cast<size_t>(i) * bytes;
      hash = fingerprint64({data, bytes});
    }
    std::memcpy(out + i * 8, &hash, 8);
  }
}

// ---- Counters.

struct CountUpTo {
  int64_t limit;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape{});
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (t.num_elements() != 1 || t.dtype() != out.dtype())
        throw invalid_argument("input is not a scalar: " + t.shape().str());
      const int64_t now = int_scalar(t, "counter");
      if (now >= limit) throw out_of_range(fmt::format("Reached limit of {}", limit));
      put_int(out, 0, now);
      put_int(t, 0, now + 1);
    });
  }
};
Prepared make_count(const KernelInit& i) { return prepared(CountUpTo{i.attr<int64_t>("limit")}); }

// The state of a generator: 128 bits of counter, then the key. Gives it and moves the counter on.
void read_and_skip(KernelContext& c) {
  if (c.input(2).num_elements() != 1) throw invalid_argument("delta must be a scalar");
  const uint64_t delta = *c.input(2).data<uint64_t>();
  check_algorithm(int_scalar(c.input(1), "alg"));
  Tensor& out = c.output(0, Shape{3});
  c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
    if (t.dtype() != DType::kInt64 || t.rank() != 1 || t.num_elements() < 3)
      throw invalid_argument("the state must be at least 3 int64s, not " + t.shape().str());
    auto* state = reinterpret_cast<uint64_t*>(t.data<int64_t>());
    std::memcpy(out.raw(), state, 3 * sizeof(uint64_t));
    const uint64_t before = state[0];
    state[0] += delta * 256;
    state[1] += state[0] < before;
  });
}

}  // namespace

std::vector<KernelRow> misc_kernels() {
  using enum DType;
  return {row("Cross", Reals::dtypes(), stateless<cross>),
          row("Bucketize", {kFloat, kDouble, kInt32, kInt64}, make_bucketize),
          row("NthElement", Reals::dtypes(), make_nth),
          row("Timestamp", stateless<timestamp>),
          row("GuaranteeConst", stateless<forward>, {.forwards = true}),
          row("DeepCopy", stateless<deep_copy>),
          row("Empty", stateless<empty>),
          row("InplaceUpdate", stateless<change_rows<Change::kSet>>),
          row("InplaceAdd", Numbers::dtypes(), stateless<change_rows<Change::kAdd>>),
          row("InplaceSub", Numbers::dtypes(), stateless<change_rows<Change::kSubtract>>),
          row("ParallelConcat", stateless<parallel_concat>),
          row("UnravelIndex", stateless<unravel_index>),
          row("Fingerprint", stateless<fingerprint>),
          row("CountUpTo", make_count),
          row("ResourceCountUpTo", make_count),
          row("RngReadAndSkip", stateless<read_and_skip>)};
}

}  // namespace emplace::cpu
