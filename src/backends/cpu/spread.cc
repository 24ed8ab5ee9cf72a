// Sequences, masks, sets of indices.
#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

struct OneHot {
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor &indices = c.input(0), &on = c.input(2), &off = c.input(3);
    const int64_t depth = int_scalar(c.input(1), "depth");
    if (axis < -1 || axis > indices.rank())
      throw invalid_argument(
          fmt::format("Expected axis to be -1 or between [0, {}).  But received: "
                      "{}",
                      indices.rank() + 1, axis));
    if (depth < 0)
      throw invalid_argument(fmt::format("depth must be non-negative, got: {}", depth));
    if (on.num_elements() != 1 || on.rank() != 0 || off.num_elements() != 1 || off.rank() != 0)
      throw invalid_argument("on_value and off_value must be scalars");
    const int at = static_cast<int>(axis < 0 ? indices.rank() : axis);
    Shape shape = indices.shape();
    shape.insert(at, depth);
    checked_elements(shape.dims());
    Tensor& out = c.output(0, shape);
    const Mover mover(out.dtype());
    mover.fill(out, 0, out.num_elements(), off.raw());
    int64_t inner = 1;
    for (int i = at; i < indices.rank(); ++i) inner *= indices.dim(i);
    visit_dtype(indices.dtype(), Types<uint8_t, int8_t, int32_t, int64_t>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (const int64_t i : paced(indices.num_elements())) {
        const auto k = static_cast<int64_t>(indices.data<T>()[i]);
        if (k >= 0 && k < depth)
          mover.copy(out, (i / inner * depth + k) * inner + i % inner, on, 0, 1);
      }
    });
  }
};
Prepared make_one_hot(const KernelInit& i) { return prepared(OneHot{i.attr<int64_t>("axis")}); }

using Steps = Join<Floats, Types<int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t>>;

template <class T>
auto printable(T number) {
  if constexpr (std::is_integral_v<T>) return +number;
  else return static_cast<double>(number);
}

template <class T>
int64_t range_size(T start, T limit, T delta) {
  if (delta == T(0)) throw invalid_argument("Requires delta != 0: 0");
  if (delta > T(0) ? start > limit : start < limit)
    throw invalid_argument(fmt::format("Requires start {} limit when delta {} 0: {}/{}",
                                       delta > T(0) ? "<=" : ">=", delta > T(0) ? ">" : "<",
                                       printable(start), printable(limit)));
  if constexpr (std::is_integral_v<T>) {
    const auto span = static_cast<uint64_t>(
        delta > T(0) ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit));
    const auto step =
        delta > T(0) ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    return static_cast<int64_t>(std::min<uint64_t>(span / step + (span % step != 0), INT64_MAX));
  } else {
    const double size = std::ceil(std::abs((limit - start) / delta));
    if (!(size < 9e18)) throw invalid_argument("Requires ((limit - start) / delta) <= INT64_MAX");
    return static_cast<int64_t>(size);
  }
}

// start + i · delta; numbers of places that 32 bits hold become vectors more easily.
template <class T, class Place>
void range_loop(Compute<T> start, Compute<T> delta, Place n, T* out) {
  using C = Compute<T>;
  using W = Wrap<C>;
#pragma GCC ivdep
  for (Place i = 0; i < n; ++i)
    out[i] = static_cast<T>(
        static_cast<C>(static_cast<W>(start) + static_cast<W>(i) * static_cast<W>(delta)));
}

void range(KernelContext& c) {
  for (int i = 0; i < 3; ++i)
    if (c.input(i).num_elements() != 1 || c.input(i).rank() > 1)
      throw invalid_argument("start, limit and delta must be scalars, not shape " +
                             c.input(i).shape().str());
  visit_dtype(c.input(0).dtype(), Steps{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    const C start = static_cast<C>(*c.input(0).template data<T>());
    const C delta = static_cast<C>(*c.input(2).template data<T>());
    const int64_t n = range_size(start, static_cast<C>(*c.input(1).template data<T>()), delta);
    T* out = c.output(0, Shape{n}).template data<T>();
    if (n < INT32_MAX) pick<T, range_loop<T, int32_t>>()(start, delta, static_cast<int32_t>(n), out);
    else range_loop<T, int64_t>(start, delta, n, out);
  });
}

void lin_space(KernelContext& c) {
  const int64_t n = int_scalar(c.input(2), "num");
  if (n <= 0) throw invalid_argument(fmt::format("Requires num > 0: {}", n));
  for (int i = 0; i < 3; ++i)
    if (c.input(i).rank() != 0)
      throw invalid_argument("start, stop and num must be scalars, not shape " +
                             c.input(i).shape().str());
  checked_elements(std::vector<int64_t>{n});
  visit_dtype(c.input(0).dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    const C start = static_cast<C>(*c.input(0).template data<T>());
    const C stop = static_cast<C>(*c.input(1).template data<T>());
    T* out = c.output(0, Shape{n}).template data<T>();
    const C step = n > 1 ? (stop - start) / static_cast<C>(n - 1) : C(0);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(start + step * static_cast<C>(i));
    if (n > 1) out[n - 1] = static_cast<T>(stop);
  });
}

void where(KernelContext& c) {
  const Tensor& in = c.input(0);
  visit_dtype(in.dtype(), Plain{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = in.data<T>();
    auto holds = [&](int64_t i) {
      return static_cast<Compute<T>>(x[i]) != static_cast<Compute<T>>(T());
    };
    int64_t found = 0;
    for (const int64_t i : paced(in.num_elements())) found += holds(i);
    const int rank = in.rank();
    int64_t* out = c.output(0, Shape{found, rank}).template data<int64_t>();
    for (int64_t i = 0, row = 0; i < in.num_elements(); ++i) {
      if (!holds(i)) continue;
      int64_t rest = i;
      for (int d = rank - 1; d >= 0; rest /= in.dim(d--)) out[row * rank + d] = rest % in.dim(d);
      ++row;
    }
  });
}

void broadcast_args(KernelContext& c) {
  const Shape a = shape_from(c.input(0)), b = shape_from(c.input(1));
  const Shape* shapes[] = {&a, &b};
  const Shape result = broadcast_shape(shapes);
  Tensor& out = c.output(0, Shape{result.rank()});
  for (int i = 0; i < result.rank(); ++i) put_int(out, i, result[i]);
}

// Dimensions of the result along which a, and along which b, was repeated.
void broadcast_gradient_args(KernelContext& c) {
  const Shape shapes[] = {shape_from(c.input(0)), shape_from(c.input(1))};
  const Shape* pointers[] = {&shapes[0], &shapes[1]};
  const Shape result = broadcast_shape(pointers);
  for (int k = 0; k < 2; ++k) {
    const Shape &own = shapes[k], &other = shapes[1 - k];
    std::vector<int> repeated;
    for (int i = 0; i < result.rank() && !(shapes[0] == shapes[1]); ++i) {
      const int at = i - (result.rank() - own.rank());
      const int there = i - (result.rank() - other.rank());
      const bool both_one = at >= 0 && there >= 0 && own[at] == 1 && other[there] == 1;
      if (at < 0 || own[at] == 1 || both_one) repeated.push_back(i);
    }
    Tensor& out = c.output(k, Shape{static_cast<int64_t>(repeated.size())});
    for (size_t i = 0; i < repeated.size(); ++i) put_int(out, static_cast<int64_t>(i), repeated[i]);
  }
}

void invert_permutation(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 1) throw invalid_argument("invert_permutation expects a 1D vector.");
  const auto perm = int_values(in);
  std::vector<int64_t> inverse(perm.size(), -1);
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(perm.size()))
      throw invalid_argument(fmt::format("{} is not between 0 and {}", perm[i], perm.size()));
    auto& slot = inverse[static_cast<size_t>(perm[i])];
    if (slot >= 0) throw invalid_argument(fmt::format("{} is duplicated in the input.", perm[i]));
    slot = static_cast<int64_t>(i);
  }
  Tensor& out = c.output(0, in.shape());
  for (size_t i = 0; i < inverse.size(); ++i) put_int(out, static_cast<int64_t>(i), inverse[i]);
}

using Listable = Join<Reals, Types<std::string>>;

template <class T>
auto key_of(const T& x) {
  if constexpr (kIsSmallFloat<T>)
    return static_cast<float>(x);
  else
    return x;
}

void list_diff(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  if (x.rank() != 1 || y.rank() != 1) throw invalid_argument("x and y should be 1D vectors.");
  visit_dtype(x.dtype(), Listable{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::unordered_set<decltype(key_of(T()))> known;
    for (const int64_t i : paced(y.num_elements())) known.insert(key_of(y.data<T>()[i]));
    std::vector<int64_t> rest;
    for (const int64_t i : paced(x.num_elements()))
      if (!known.contains(key_of(x.data<T>()[i]))) rest.push_back(i);
    const Shape shape{static_cast<int64_t>(rest.size())};
    Tensor &out = c.output(0, shape), &at = c.output(1, shape);
    for (const size_t i : paced(rest.size())) {
      out.data<T>()[i] = x.data<T>()[rest[i]];
      put_int(at, static_cast<int64_t>(i), rest[i]);
    }
  });
}

void concat_offset(KernelContext& c) {
  const int n = c.num_inputs() - 1;
  const int64_t rank = c.input(1).num_elements();
  const int at =
      checked_axis(int_scalar(c.input(0), "concat_dim"), static_cast<int>(rank), "concat_dim");
  const auto first = int_values(c.input(1));
  int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    const auto sizes = int_values(c.input(i + 1));
    if (c.input(i + 1).rank() != 1 || static_cast<int64_t>(sizes.size()) != rank)
      throw invalid_argument(
          fmt::format("input {} should contain {} elements, but got {}", i, rank, sizes.size()));
    for (int d = 0; d < rank; ++d)
      if (d != at && sizes[static_cast<size_t>(d)] != first[static_cast<size_t>(d)])
        throw invalid_argument(
            fmt::format("All dimensions except {} must match. Input {} has shape "
                        "{} and doesn't match input 0 with shape {}.",
                        at, i, Shape(sizes).str(), Shape(first).str()));
    Tensor& out = c.output(i, Shape{rank});
    for (int d = 0; d < rank; ++d) put_int(out, d, d == at ? offset : 0);
    offset += sizes[static_cast<size_t>(at)];
  }
}

// "a", "a and b", "a, b, and c"
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += words.size() > 2 ? ", " : " ";
    if (i > 0 && i + 1 == words.size()) text += "and ";
    text += words[i];
  }
  return text;
}

// V2 tells the two infinities apart.
struct CheckNumerics {
  std::string message;
  bool signs;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    bool nan = false, plus = false, minus = false;
    visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (const int64_t i : paced(in.num_elements())) {
        const auto x = static_cast<Compute<T>>(in.data<T>()[i]);
        if (std::isfinite(x)) continue;
        nan |= std::isnan(x), plus |= x > 0, minus |= x < 0;
      }
    });
    std::vector<std::string> found;
    if (signs && minus) found.push_back("-Inf");
    if (signs && plus) found.push_back("+Inf");
    if (!signs && (plus || minus)) found.push_back("Inf");
    if (nan) found.push_back("NaN");
    if (!found.empty())
      throw invalid_argument(fmt::format("{} : Tensor had {} values", message, listed(found)));
    c.set_output(0, in);
  }
};
Prepared make_check(const KernelInit& i) {
  return prepared(CheckNumerics{i.attr<std::string>("message"), i.op->name == "CheckNumericsV2"});
}

}  // namespace

std::vector<KernelRow> spread_kernels() {
  return {row("OneHot", make_one_hot),
          row("Range", stateless<range>),
          row("LinSpace", stateless<lin_space>),
          row("Where", stateless<where>),
          row("BroadcastArgs", stateless<broadcast_args>),
          row("BroadcastGradientArgs", stateless<broadcast_gradient_args>),
          row("InvertPermutation", stateless<invert_permutation>),
          row("ListDiff", stateless<list_diff>),
          row("ConcatOffset", stateless<concat_offset>),
          row("CheckNumerics", make_check),
          row("CheckNumericsV2", make_check)};
}

}  // namespace emplace::cpu
