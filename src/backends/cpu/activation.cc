#include <fmt/format.h>

#include <bit>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/simd_math.h"

namespace emplace::cpu {
namespace {

// clang-format off
struct Relu { template <class T> T operator()(T x) const { return larger(x, T{0}); } };
struct Relu6 { template <class T> T operator()(T x) const { return smaller(larger(x, T{0}), T{6}); } };
struct Elu { template <class T> T operator()(T x) const { return x < 0 ? std::expm1(x) : x; } };
struct Softsign { template <class T> T operator()(T x) const { return x / (T(1) + std::abs(x)); } };
struct ReluGrad { template <class T> T operator()(T g, T x) const { return x > T{0} ? g : T{0}; } };
struct Relu6Grad { template <class T> T operator()(T g, T x) const { return x > T{0} && x < T{6} ? g : T{0}; } };
struct EluGrad { template <class T> T operator()(T g, T y) const { return y < 0 ? g * (y + T(1)) : g; } };
struct SoftplusGrad { template <class T> T operator()(T g, T x) const { return g / (std::exp(-x) + T(1)); } };
// clang-format on

struct Selu {
  template <class T>
  T operator()(T x) const {
    return x < 0 ? T(kSeluAlpha) * std::expm1(x) : T(kSeluScale) * x;
  }
};
struct SeluGrad {
  template <class T>
  T operator()(T g, T y) const {
    return y < 0 ? g * (y + T(kSeluAlpha)) : g * T(kSeluScale);
  }
};
struct Softplus {  // log(1 + exp(x)); at the ends its limits, where the sum would lose x or 1
  template <class T>
  T operator()(T x) const {
    const T threshold = std::log(std::numeric_limits<T>::epsilon()) + T(2);
    if (x > -threshold) return x;
    return x < threshold ? std::exp(x) : std::log1p(std::exp(x));
  }
};
struct SoftsignGrad {
  template <class T>
  T operator()(T g, T x) const {
    const T d = T(1) + std::abs(x);
    return g / (d * d);
  }
};

// Gradients in terms of the function's own value y.
struct ReciprocalGrad {
  template <class T>
  T operator()(T y, T g) const {
    const T c = conjugate(y);
    return negate(times(times(c, c), g));
  }
};
struct SqrtGrad {
  template <class T>
  T operator()(T y, T g) const {
    return g * T(0.5) / conjugate(y);
  }
};
struct RsqrtGrad {
  template <class T>
  T operator()(T y, T g) const {
    const T c = conjugate(y);
    return times(times(g * T(-0.5), c), times(c, c));
  }
};
struct SigmoidGrad {
  template <class T>
  T operator()(T y, T g) const {
    return times(times(g, y), T(1) - y);
  }
};
struct TanhGrad {
  template <class T>
  T operator()(T y, T g) const {
    return times(g, T(1) - times(y, y));
  }
};

// LeakyRelu has a slope, which the loops don't know: small enough to stand on its own.
// One of two numbers by their bits: the compiler makes no vectors of a choice otherwise.
template <class C>
[[gnu::always_inline]] inline C chosen(bool first, C a, C b) {
  using U = std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t>;
  const U mask = U{0} - static_cast<U>(first);
  return std::bit_cast<C>(
      static_cast<U>((std::bit_cast<U>(a) & mask) | (std::bit_cast<U>(b) & ~mask)));
}

template <class T>
void leaky_loop(const T* features, const T* values, float alpha, T* out, int64_t n) {
  using C = Compute<T>;
  const C a = static_cast<C>(alpha);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const C v = static_cast<C>(values[i]);
    out[i] = static_cast<T>(v * chosen(static_cast<C>(features[i]) > 0, C(1), a));
  }
}

template <class T>
struct Leaky {
  float alpha;
  void operator()(KernelContext& c) const {
    const bool grad = c.num_inputs() == 2;
    const T* features = c.input(grad ? 1 : 0).data<T>();
    const T* values = c.input(0).data<T>();
    if (grad && c.input(0).shape() != c.input(1).shape())
      throw invalid_argument("gradients and features must have the same shape");
    T* out = c.output(0, c.input(0).shape()).template data<T>();
    c.parallel_for(c.input(0).num_elements(), kCheap, [&](int64_t begin, int64_t end) {
      static const auto loop = pick<T, leaky_loop<T>>();
      loop(features + begin, values + begin, alpha, out + begin, end - begin);
    });
  }
};

Prepared make_leaky(const KernelInit& init) {
  Prepared result;
  visit_dtype(init.type("T"), Floats{}, [&](auto tag) {
    result = prepared(Leaky<typename decltype(tag)::type>{init.attr<float>("alpha")});
  });
  return result;
}

KernelRow leaky(const char* op) {
  return {op, "CPU", {{"T", Floats::dtypes()}}, {}, make_leaky, {.in_place = true}, 0, ""};
}

// Two arguments of one shape; what was known while planning may not have shown that they differ.
struct Pair {
  BinaryLoop loop;
  double cost;
  const OpDef* op;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.shape() != b.shape())
      throw invalid_argument(fmt::format(
          "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != "
          "input 1: {}", c.node(), op->name, a.shape().str(), b.shape().str()));
    run_binary(c, loop, cost, a, b, c.output(0, a.shape()));
  }
};

template <class Op, class List, const double& kCost>
Prepared make_pair_kernel(const KernelInit& init) {
  const BinaryLoop loop = find_binary<Op, List>(init.input_types[0]);
  if (init.static_shapes() && init.input_shapes[0] == init.input_shapes[1])
    return prepare_binary(init, loop, kCost);
  return prepared(Pair{loop, kCost, init.op});
}

template <class Op, class List, const double& kCost = kCheap>
KernelRow pair(const char* op) {
  return {op, "CPU", {{"T", List::dtypes()}}, {}, make_pair_kernel<Op, List, kCost>,
          {.in_place = true}, 0, ""};
}

// Two arguments of as many elements; the result has the shape of the first.
struct Elements {
  BinaryLoop loop;
  double cost;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.num_elements() != b.num_elements())
      throw invalid_argument(fmt::format(
          "The two arguments to a cwise op must have same number of elements, got {} and {}",
          a.num_elements(), b.num_elements()));
    run_binary(c, loop, cost, a, b.reshaped(a.shape()), c.output(0, a.shape()));
  }
};

template <class Op, class List>
Prepared make_elements_kernel(const KernelInit& init) {
  const BinaryLoop loop = find_binary<Op, List>(init.input_types[0]);
  if (init.static_shapes() && init.input_shapes[0] == init.input_shapes[1])
    return prepare_binary(init, loop, kCheap);
  return prepared(Elements{loop, kCheap});
}

template <class Op, class List>
KernelRow elements(const char* op) {
  return {op, "CPU", {{"T", List::dtypes()}}, {}, make_elements_kernel<Op, List>,
          {.in_place = true}, 0, ""};
}

// By a loop of simd_math.h where there is one.
template <class Op, Fn kFn>
Prepared make_dear(const KernelInit& init) {
  const DType t = init.input_types[0];
  if (UnaryLoop loop = simd_loop(kFn, t)) return prepare_unary(init, loop, kModerate);
  return prepare_unary(init, find_unary<Op, Floats>(t), kDear);
}
template <class Op, Fn kFn>
KernelRow dear(const char* op) {
  KernelRow row = unary<Op, Floats, SameType, kDear>(op);
  row.make = make_dear<Op, kFn>;
  return row;
}

}  // namespace

std::vector<KernelRow> activation_kernels() {
  return {unary<Relu, Reals>("Relu"),
          unary<Relu6, Reals>("Relu6"),
          leaky("LeakyRelu"),
          leaky("LeakyReluGrad"),
          dear<Elu, Fn::kElu>("Elu"),
          dear<Selu, Fn::kSelu>("Selu"),
          dear<Softplus, Fn::kSoftplus>("Softplus"),
          unary<Softsign, Floats>("Softsign"),
          pair<ReluGrad, Reals>("ReluGrad"),
          pair<Relu6Grad, Reals>("Relu6Grad"),
          pair<EluGrad, Floats>("EluGrad"),
          pair<SeluGrad, Floats>("SeluGrad"),
          pair<SoftplusGrad, Floats, kDear>("SoftplusGrad"),
          pair<SoftsignGrad, Floats>("SoftsignGrad"),
          elements<ReciprocalGrad, FloatsAndComplexes>("InvGrad"),
          elements<ReciprocalGrad, FloatsAndComplexes>("ReciprocalGrad"),
          elements<SqrtGrad, FloatsAndComplexes>("SqrtGrad"),
          elements<RsqrtGrad, FloatsAndComplexes>("RsqrtGrad"),
          elements<SigmoidGrad, FloatsAndComplexes>("SigmoidGrad"),
          elements<TanhGrad, FloatsAndComplexes>("TanhGrad")};
}

}  // namespace emplace::cpu
