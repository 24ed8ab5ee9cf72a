// Biases, softmax, losses.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/rows.h"
#include "backends/cpu/training_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "backends/cpu/simd_math.h"
#include "backends/cpu/strided.h"

namespace emplace::cpu {
namespace {

// ---- Biases. The value is seen as [outer, channels, inner].

struct Channels {
  int64_t outer = 1, channels, inner = 1;
  Channels(const Tensor& t, bool first) {
    if (t.rank() < 2)
      throw invalid_argument("Input tensor must be at least 2D: " + t.shape().str());
    const int at = first ? 1 : t.rank() - 1;
    channels = t.dim(at);
    for (int i = 0; i < at; ++i) outer *= t.dim(i);
    for (int i = at + 1; i < t.rank(); ++i) inner *= t.dim(i);
  }
};

bool channels_first(const KernelInit& init) {
  const AttrValue* v = init.find("data_format");
  return v && v->as<std::string>() == "NCHW";
}

struct BiasAdd {
  BinaryLoop add;
  bool first;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &bias = c.input(1);
    const Channels s(in, first);
    const std::string_view which = first ? "channel" : "last";
    if (bias.rank() != 1 || bias.dim(0) != s.channels)
      throw invalid_argument(
          fmt::format("Must provide as many biases as the {} dimension of "
                      "the input tensor: {} vs. {}",
                      which, bias.shape().str(), in.shape().str()));
    Tensor& out = c.output(0, in.shape());
    if (in.num_elements() == 0) return;
    const Tensor seen = in.reshaped(Shape{s.outer, s.channels, s.inner});
    const Tensor column = bias.reshaped(Shape{s.channels, 1});
    run_binary(c, add, kCheap, seen, column, out);
  }
};
Prepared make_bias(const KernelInit& i) {
  return prepared(BiasAdd{add_loop(i.type("T")), channels_first(i)});
}

// Rows fall into parts, by their number only, with sums of their own; parts are merged in order.
template <class T, class C = Compute<T>>
void add_rows(const T* x, int64_t rows, int64_t channels, C* sums) {
  for (int64_t r = 0; r < rows; ++r, x += channels)
#pragma GCC ivdep
    for (int64_t k = 0; k < channels; ++k) sums[k] = plus(sums[k], static_cast<C>(x[k]));
}

template <class T, class C = Compute<T>>
void sum_channels(KernelContext& c, const T* x, int64_t rows, int64_t channels, T* out) {
  const int64_t parts = std::clamp<int64_t>(rows / 256, 1, 64), height = (rows + parts - 1) / parts;
  const Tensor sums = c.temp(DTypeOf<C>::value, Shape{parts, channels});
  C* all = sums.data<C>();
  std::fill_n(all, parts * channels, C(0));
  const auto loop = pick<T, add_rows<T, C>>();
  c.parallel_for(
      parts, 0.3 * static_cast<double>(height * channels) + 10, [&](int64_t b, int64_t e) {
        for (int64_t p = b; p < e; ++p)
          loop(x + p * height * channels, std::clamp<int64_t>(rows - p * height, 0, height),
               channels, all + p * channels);
      });
  for (int64_t p = 1; p < parts; ++p)
    for (int64_t k = 0; k < channels; ++k) all[k] = plus(all[k], all[p * channels + k]);
  for (int64_t k = 0; k < channels; ++k) out[k] = static_cast<T>(all[k]);
}

struct BiasAddGrad {
  bool first;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Channels s(in, first);
    Tensor& out = c.output(0, Shape{s.channels});
    visit_dtype(in.dtype(), Numbers{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = Compute<T>;
      const T* x = in.data<T>();
      if (s.inner == 1) return sum_channels(c, x, s.outer, s.channels, out.data<T>());
      c.parallel_for(s.channels, static_cast<double>(s.outer * s.inner), [&](int64_t b, int64_t e) {
        for (int64_t k = b; k < e; ++k) {
          C sum = C(0);
          for (int64_t o = 0; o < s.outer; ++o)
            for (int64_t i = 0; i < s.inner; ++i)
              sum = plus(sum, static_cast<C>(x[(o * s.channels + k) * s.inner + i]));
          out.data<T>()[k] = static_cast<T>(sum);
        }
      });
    });
  }
};
Prepared make_bias_grad(const KernelInit& i) { return prepared(BiasAddGrad{channels_first(i)}); }

// ---- Softmax, row by row.

// Loops over a row, several elements at once; the order depends on its length only.
constexpr int kLanes = 32;

// What is no number is passed by: it shows in the exponentials.
template <class C>
void largest_of(const C* x, int64_t n, C* out) {
  C lanes[kLanes];
  for (C& lane : lanes) lane = -std::numeric_limits<C>::infinity();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
  for (int k = 0; i < n; ++i, ++k) lanes[k] = x[i] > lanes[k] ? x[i] : lanes[k];
  for (int k = 1; k < kLanes; ++k) lanes[0] = lanes[k] > lanes[0] ? lanes[k] : lanes[0];
  *out = lanes[0];
}
template <class C>
void sum_of(const C* x, int64_t n, C* out) {
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] += x[i + k];
  for (int k = 0; i < n; ++i, ++k) lanes[k] += x[i];
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  *out = lanes[0];
}
template <class C>
void subtract(const C* x, C by, int64_t n, C* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - by;
}
template <class C>
void multiply(const C* x, C by, int64_t n, C* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * by;
}
template <class C>
void plain_exp(const void* x, void* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<C*>(y)[i] = std::exp(static_cast<const C*>(x)[i]);
}

// Takes rows apart: shifted by the largest, exponentials of that, and their sum.
template <class T, class C = Compute<T>>
class SoftRow {
 public:
  explicit SoftRow(int64_t n)
      : n_(n), buffer_(static_cast<size_t>(kIsSmallFloat<T> ? 3 * n : 2 * n)) {}

  void read(const T* x) {
    const C* wide;
    if constexpr (kIsSmallFloat<T>) {
      for (int64_t i = 0; i < n_; ++i)
        buffer_[static_cast<size_t>(2 * n_ + i)] = static_cast<C>(x[i]);
      wide = buffer_.data() + 2 * n_;
    } else {
      wide = x;
    }
    C high;
    largest_(wide, n_, &high);
    subtract_(wide, high, n_, shifted());
    exp_(shifted(), exps(), n_);
    sum_(exps(), n_, &sum);
  }
  C* shifted() { return buffer_.data(); }
  C* exps() { return buffer_.data() + n_; }
  C sum = 0;

  // y = softmax of x, worked out where it is wanted.
  void write(const T* x, T* y) {
    if constexpr (kIsSmallFloat<T>) {
      read(x);
      put_scaled(exps(), 1 / sum, y);
    } else {
      C high;
      largest_(x, n_, &high);
      subtract_(x, high, n_, y);
      exp_(y, y, n_);
      sum_(y, n_, &sum);
      multiply_(y, 1 / sum, n_, y);
    }
  }

  // to[i] = x[i] * by, or x[i] - by.
  void put_scaled(const C* x, C by, T* to) { put(multiply_, x, by, to); }
  void put_less(const C* x, C by, T* to) { put(subtract_, x, by, to); }

 private:
  using RowLoop = void (*)(const C*, C, int64_t, C*);
  void put(RowLoop loop, const C* x, C by, T* to) {
    if constexpr (kIsSmallFloat<T>) {
      C* wide = buffer_.data() + 2 * n_;
      loop(x, by, n_, wide);
      for (int64_t i = 0; i < n_; ++i) to[i] = static_cast<T>(wide[i]);
    } else {
      loop(x, by, n_, to);
    }
  }
  static UnaryLoop exp_loop() {
    const UnaryLoop loop = simd_loop(Fn::kExp, DTypeOf<C>::value);
    return loop ? loop : plain_exp<C>;
  }

  int64_t n_;
  std::vector<C> buffer_;
  void (*largest_)(const C*, int64_t, C*) = best<largest_of<C>>();
  void (*sum_)(const C*, int64_t, C*) = best<sum_of<C>>();
  RowLoop subtract_ = best<subtract<C>>(), multiply_ = best<multiply<C>>();
  UnaryLoop exp_ = exp_loop();
};

constexpr double kSoftCost = 3;  // ns an element

template <bool kLog>
void softmax(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1)
    throw invalid_argument("logits must have >= 1 dimension, got " + in.shape().str());
  Tensor& out = c.output(0, in.shape());
  if (in.num_elements() == 0) return;
  const int64_t n = in.dim(in.rank() - 1);
  visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double cost = kSoftCost * static_cast<double>(n) + 20;
    c.parallel_for(in.num_elements() / n, cost, [&](int64_t b, int64_t e) {
      SoftRow<T> row(n);
      for (int64_t r = b; r < e; ++r) {
        T* y = out.data<T>() + r * n;
        const T* x = in.data<T>() + r * n;
        if constexpr (kLog) {
          row.read(x);
          row.put_less(row.shifted(), std::log(row.sum), y);
        } else {
          row.write(x, y);
        }
      }
    });
  });
}

// How a broadcast operand of a matrix moves: from row to row, from column to column.
std::pair<int64_t, int64_t> matrix_strides(const Tensor& t) {
  const int lead = t.rank() - 2;
  const int64_t columns = t.rank() > 0 ? t.dim(t.rank() - 1) : 1;
  const int64_t rows = lead >= 0 ? t.dim(lead) : 1;
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

template <class T>
void dense_losses(KernelContext& c, const Shape& shape, Tensor& loss, Tensor& gradient) {
  using C = Compute<T>;
  const int64_t n = shape[1];
  const auto [row_x, step_x] = matrix_strides(c.input(0));
  const auto [row_l, step_l] = matrix_strides(c.input(1));
  const T *x = c.input(0).data<T>(), *labels = c.input(1).data<T>();
  c.parallel_for(shape[0], 2 * kSoftCost * static_cast<double>(n) + 20, [&](int64_t b, int64_t e) {
    SoftRow<T> soft(n);
    std::vector<T> row(static_cast<size_t>(n));
    for (int64_t r = b; r < e; ++r) {
      for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = x[r * row_x + i * step_x];
      soft.read(row.data());
      const C log = std::log(soft.sum), inverse = 1 / soft.sum;
      C sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const C l = static_cast<C>(labels[r * row_l + i * step_l]);
        if (l != C(0)) sum -= l * (soft.shifted()[i] - log);
        gradient.data<T>()[r * n + i] = static_cast<T>(soft.exps()[i] * inverse - l);
      }
      loss.data<T>()[r] = static_cast<T>(sum);
    }
  });
}

// Rows and classes agree, or one of the two has but one of them.
bool broadcastable(const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) return true;  // said elsewhere
  return (a[0] == b[0] || a[0] == 1 || b[0] == 1) && (a[1] == b[1] || a[1] == 1 || b[1] == 1);
}

void cross_entropy(KernelContext& c) {
  const Shape* shapes[] = {&c.input(0).shape(), &c.input(1).shape()};
  if (!broadcastable(*shapes[0], *shapes[1]))
    throw invalid_argument(
        fmt::format("logits and labels must be broadcastable: logits_size={} labels_size={}",
                    shapes[0]->str(), shapes[1]->str()));
  const Shape shape = broadcast_shape(shapes);
  if (shape.rank() != 2)
    throw invalid_argument(
        fmt::format("logits and labels must be broadcastable to 2-D: "
                    "logits_size={} labels_size={}",
                    shapes[0]->str(), shapes[1]->str()));
  Tensor &loss = c.output(0, Shape{shape[0]}), &gradient = c.output(1, shape);
  if (shape[0] == 0) return;
  if (shape[1] == 0) throw invalid_argument("logits must have at least one class");
  visit_dtype(loss.dtype(), Floats{}, [&](auto tag) {
    dense_losses<typename decltype(tag)::type>(c, shape, loss, gradient);
  });
}

void sparse_cross_entropy(KernelContext& c) {
  const Tensor &features = c.input(0), &labels = c.input(1);
  if (features.rank() != 2)
    throw invalid_argument("logits must be 2-D, but got shape " + features.shape().str());
  if (labels.rank() != 1 || labels.dim(0) != features.dim(0))
    throw invalid_argument(
        fmt::format("logits and labels must have the same first dimension, got "
                    "logits shape {} and labels shape {}",
                    features.shape().str(), labels.shape().str()));
  const int64_t n = features.dim(1);
  if (n == 0 && features.dim(0) > 0)
    throw invalid_argument("Must have at least one class, but got logits shape " +
                           features.shape().str());
  Tensor &loss = c.output(0, labels.shape()), &gradient = c.output(1, features.shape());
  const auto wanted = int_values(labels);
  for (int64_t l : wanted)
    if (l < 0 || l >= n)
      throw invalid_argument(
          fmt::format("Received a label value of {} which is outside the valid "
                      "range of [0, {}).  Label values: {}",
                      l, n, labels.summary(static_cast<int>(wanted.size()))));
  visit_dtype(features.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    c.parallel_for(
        features.dim(0), kSoftCost * static_cast<double>(n) + 20, [&](int64_t b, int64_t e) {
          SoftRow<T> soft(n);
          for (int64_t r = b; r < e; ++r) {
            const int64_t label = wanted[static_cast<size_t>(r)];
            T* to = gradient.data<T>() + r * n;
            soft.read(features.data<T>() + r * n);
            loss.data<T>()[r] = static_cast<T>(std::log(soft.sum) - soft.shifted()[label]);
            soft.put_scaled(soft.exps(), 1 / soft.sum, to);
            to[label] = static_cast<T>(soft.exps()[label] / soft.sum - 1);
          }
        });
  });
}

// In double, so that the order matters little; parts by the number of elements only.
template <class T>
void add_squares(const T* x, int64_t n, double* sum) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) {
      const auto v = static_cast<double>(static_cast<Compute<T>>(x[i + k]));
      lanes[k] += v * v;
    }
  for (int k = 0; i < n; ++i, ++k) {
    const auto v = static_cast<double>(static_cast<Compute<T>>(x[i]));
    lanes[k] += v * v;
  }
  for (double lane : lanes) *sum += lane;
}

void l2_loss(KernelContext& c) {
  constexpr int64_t kPart = 65536;
  const Tensor& in = c.input(0);
  Tensor& out = c.output(0, Shape{});
  const int64_t n = in.num_elements(), parts = (n + kPart - 1) / kPart;
  std::vector<double> sums(static_cast<size_t>(parts), 0.0);
  visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto loop = best<add_squares<T>>();
    c.parallel_for(parts, 0.3 * kPart, [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; ++p)
        loop(in.data<T>() + p * kPart, std::min(kPart, n - p * kPart),
             &sums[static_cast<size_t>(p)]);
    });
    double sum = 0;
    for (double s : sums) sum += s;
    *out.data<T>() = static_cast<T>(static_cast<Compute<T>>(sum / 2));
  });
}

}  // namespace

std::vector<KernelRow> nets_kernels() {
  const auto floats = Floats::dtypes(), numbers = Numbers::dtypes();
  return {row("BiasAdd", numbers, make_bias),
          row("BiasAddV1", numbers, make_bias),
          row("BiasAddGrad", numbers, make_bias_grad),
          row("Softmax", floats, stateless<softmax<false>>),
          row("LogSoftmax", floats, stateless<softmax<true>>),
          row("SoftmaxCrossEntropyWithLogits", floats, stateless<cross_entropy>),
          row("SparseSoftmaxCrossEntropyWithLogits", floats, stateless<sparse_cross_entropy>),
          row("L2Loss", floats, stateless<l2_loss>)};
}

}  // namespace emplace::cpu
