#include "backends/cpu/rows.h"
#include "backends/cpu/scatter.h"

#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// clang-format off
struct ScatterAdd { template <class T> T operator()(T a, T b) const { return plus(a, b); } };
struct ScatterSub { template <class T> T operator()(T a, T b) const { return minus(a, b); } };
struct ScatterMul { template <class T> T operator()(T a, T b) const { return times(a, b); } };
struct ScatterMax { template <class T> T operator()(T a, T b) const { return larger(a, b); } };
struct ScatterMin { template <class T> T operator()(T a, T b) const { return smaller(a, b); } };
// clang-format on
struct ScatterDiv {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw invalid_argument("Integer division by zero");
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return negate(a);
    }
    return static_cast<T>(a / b);
  }
};

template <class Op, class T>
void combine(void* to, const void* from, int64_t n) {
  T* x = static_cast<T*>(to);
  const T* y = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<T>(Op{}(static_cast<Compute<T>>(x[i]), static_cast<Compute<T>>(y[i])));
}

template <class T>
void set(void* to, const void* from, int64_t n) {
  std::copy_n(static_cast<const T*>(from), n, static_cast<T*>(to));
}

template <class Op, class List>
ScatterLoop find(DType dtype) {
  ScatterLoop loop = nullptr;
  visit_dtype(dtype, List{}, [&](auto tag) { loop = combine<Op, typename decltype(tag)::type>; });
  return loop;
}

void check_shapes(const Tensor& indices, const Tensor& updates, const Shape& to, int depth) {
  bool fits = updates.rank() == indices.rank() - 1 + to.rank() - depth;
  for (int i = 0; i + 1 < indices.rank() && fits; ++i) fits = updates.dim(i) == indices.dim(i);
  for (int i = depth; i < to.rank() && fits; ++i)
    fits = updates.dim(indices.rank() - 1 + i - depth) == to[i];
  if (!fits)
    throw invalid_argument(fmt::format("Must have updates.shape = indices.shape[:-1] + "
                                       "shape[{}:], got updates.shape: {}, indices.shape: {}, "
                                       "shape: {}", depth, updates.shape().str(),
                                       indices.shape().str(), to.str()));
}

bool ignores(const KernelInit& init) {
  const AttrValue* v = init.find("bad_indices_policy");
  return v && v->as<std::string>() == "IGNORE";
}

struct ScatterNew {
  ScatterLoop loop;
  bool ignore;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape_from(c.input(2)));
    Mover(out.dtype()).zero(out, 0, out.num_elements());
    scatter_nd(c.input(0), c.input(1), loop, out, ignore);
  }
};

struct ScatterInto {
  ScatterLoop loop;
  bool ignore;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    if (out.raw() != in.raw()) copy_elements(out, in);
    scatter_nd(c.input(1), c.input(2), loop, out, ignore);
  }
};

// Strings and flags are set; numbers are added up.
Prepared make_scatter_nd(const KernelInit& init) {
  const DType t = init.type("T");
  const bool adds = is_plain(t) && t != DType::kBool;
  return prepared(ScatterNew{scatter_loop(adds ? ScatterOp::kAdd : ScatterOp::kSet, t),
                             ignores(init)});
}

template <ScatterOp kOp>
Prepared make_into(const KernelInit& init) {
  return prepared(ScatterInto{scatter_loop(kOp, init.type("T")), ignores(init)});
}

}  // namespace

ScatterLoop scatter_loop(ScatterOp op, DType dtype) {
  ScatterLoop loop = nullptr;
  switch (op) {
    case ScatterOp::kSet:
      visit_storage(dtype, [&](auto tag) { loop = set<typename decltype(tag)::type>; });
      return loop;
    case ScatterOp::kAdd: return find<ScatterAdd, Numbers>(dtype);
    case ScatterOp::kSub: return find<ScatterSub, Numbers>(dtype);
    case ScatterOp::kMul: return find<ScatterMul, Numbers>(dtype);
    case ScatterOp::kDiv: return find<ScatterDiv, Numbers>(dtype);
    case ScatterOp::kMax: return find<ScatterMax, Reals>(dtype);
    case ScatterOp::kMin: return find<ScatterMin, Reals>(dtype);
  }
  return loop;
}

void scatter_nd(const Tensor& indices, const Tensor& updates, ScatterLoop loop, const Tensor& to,
                bool ignore_bad) {
  if (indices.rank() < 1) throw invalid_argument("indices must be at least a vector");
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > to.rank())
    throw invalid_argument(fmt::format("The innermost dimension of indices ({}) must not exceed "
                                       "the rank of the result ({})", depth, to.rank()));
  const int d = static_cast<int>(depth);
  check_shapes(indices, updates, to.shape(), d);
  int64_t inner = 1;
  for (int i = d; i < to.rank(); ++i) inner *= to.dim(i);
  if (updates.num_elements() == 0) return;
  const auto size = static_cast<int64_t>(dtype_size(to.dtype()));
  const int64_t rows = updates.num_elements() / inner;
  for (const int64_t r : paced(rows)) {
    int64_t at = 0;
    bool inside = true;
    for (int i = 0; i < d; ++i) {
      const int64_t k = index_at(indices, r * depth + i);
      inside = inside && k >= 0 && k < to.dim(i);
      at = at * to.dim(i) + (inside ? k : 0);
    }
    if (inside)
      loop(static_cast<char*>(to.raw()) + at * inner * size,
           static_cast<const char*>(updates.raw()) + r * inner * size, inner);
    else if (!ignore_bad)
      throw invalid_argument(fmt::format("indices[{}] = {} does not index into shape {}", r,
                                         index_row(indices, r), to.shape().str()));
  }
}

std::vector<KernelRow> scatter_kernels() {
  using Settable = Join<Plain, Types<std::string>>;
  return {row("ScatterNd", Settable::dtypes(), make_scatter_nd),
          row("ScatterNdNonAliasingAdd", Numbers::dtypes(), make_into<ScatterOp::kAdd>),
          row("TensorScatterUpdate", Settable::dtypes(), make_into<ScatterOp::kSet>),
          row("TensorScatterAdd", Numbers::dtypes(), make_into<ScatterOp::kAdd>),
          row("TensorScatterSub", Numbers::dtypes(), make_into<ScatterOp::kSub>),
          row("TensorScatterMax", Reals::dtypes(), make_into<ScatterOp::kMax>),
          row("TensorScatterMin", Reals::dtypes(), make_into<ScatterOp::kMin>)};
}

}  // namespace emplace::cpu
