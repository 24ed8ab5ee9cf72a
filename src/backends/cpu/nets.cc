// Biases, softmax, losses.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/training_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "backends/cpu/strided.h"

namespace emplace::cpu {
namespace {

// ---- Biases. The value is seen as [outer, channels, inner].

struct Channels {
  int64_t outer = 1, channels, inner = 1;
  Channels(const Tensor& t, bool first) {
    if (t.rank() < 2) throw invalid_argument("Input tensor must be at least 2D: " + t.shape().str());
    const int at = first ? 1 : t.rank() - 1;
    channels = t.dim(at);
    for (int i = 0; i < at; ++i) outer *= t.dim(i);
    for (int i = at + 1; i < t.rank(); ++i) inner *= t.dim(i);
  }
};

bool channels_first(const KernelInit& init) {
  const AttrValue* v = find_attr(*init.attrs, "data_format");
  return v && v->as<std::string>() == "NCHW";
}

struct BiasAdd {
  BinaryLoop add;
  bool first;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &bias = c.input(1);
    const Channels s(in, first);
    if (bias.rank() != 1 || bias.dim(0) != s.channels)
      throw invalid_argument(fmt::format("Must provide as many biases as the channel dimension of "
                                         "the input tensor: {} vs. {}", bias.shape().str(),
                                         in.shape().str()));
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

// The largest of a row, and the logarithm of the sum of exp(x - largest).
template <class T, class C = Compute<T>>
std::pair<C, C> log_sum(const T* x, int64_t n) {
  C high = -std::numeric_limits<C>::infinity();
  for (int64_t i = 0; i < n; ++i) high = larger(static_cast<C>(x[i]), high);
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<C>(x[i]) - high);
  return {high, std::log(sum)};
}

template <bool kLog>
void softmax(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) throw invalid_argument("logits must have >= 1 dimension, got " + in.shape().str());
  Tensor& out = c.output(0, in.shape());
  if (in.num_elements() == 0) return;
  const int64_t n = in.dim(in.rank() - 1);
  visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    c.parallel_for(in.num_elements() / n, 10.0 * static_cast<double>(n), [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) {
        const T* x = in.data<T>() + r * n;
        T* y = out.data<T>() + r * n;
        const auto [high, log] = log_sum(x, n);
        for (int64_t i = 0; i < n; ++i) {
          const C shifted = static_cast<C>(x[i]) - high - log;
          y[i] = static_cast<T>(kLog ? shifted : std::exp(shifted));
        }
      }
    });
  });
}

// Loss and gradient of one row against a distribution given as a function of the class.
template <class T, class F>
void row_loss(const T* x, int64_t n, F&& label, T* loss, T* gradient) {
  using C = Compute<T>;
  const auto [high, log] = log_sum(x, n);
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const C l = label(i), shifted = static_cast<C>(x[i]) - high - log;
    if (l != C(0)) sum -= l * shifted;
    gradient[i] = static_cast<T>(std::exp(shifted) - l);
  }
  *loss = static_cast<T>(sum);
}

void cross_entropy(KernelContext& c) {
  const Shape* shapes[] = {&c.input(0).shape(), &c.input(1).shape()};
  const Shape shape = broadcast_shape(shapes);
  if (shape.rank() != 2)
    throw invalid_argument(fmt::format("logits and labels must be broadcastable to 2-D: "
                                       "logits_size={} labels_size={}", shapes[0]->str(),
                                       shapes[1]->str()));
  Tensor &loss = c.output(0, Shape{shape[0]}), &gradient = c.output(1, shape);
  if (shape[0] == 0) return;
  if (shape[1] == 0) throw invalid_argument("logits must have at least one class");
  const int64_t n = shape[1];
  auto strides = [&](const Tensor& t) {
    const int lead = t.rank() - 2;
    const int64_t columns = t.rank() > 0 ? t.dim(t.rank() - 1) : 1;
    const int64_t rows = lead >= 0 ? t.dim(lead) : 1;
    return std::pair(rows == 1 ? 0 : columns, columns == 1 ? int64_t{0} : int64_t{1});
  };
  const auto [row_x, step_x] = strides(c.input(0));
  const auto [row_l, step_l] = strides(c.input(1));
  visit_dtype(loss.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *x = c.input(0).data<T>(), *labels = c.input(1).data<T>();
    std::vector<T> row(static_cast<size_t>(n));
    for (int64_t r = 0; r < shape[0]; ++r) {
      for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = x[r * row_x + i * step_x];
      row_loss(row.data(), n,
               [&](int64_t i) { return static_cast<Compute<T>>(labels[r * row_l + i * step_l]); },
               loss.data<T>() + r, gradient.data<T>() + r * n);
    }
  });
}

void sparse_cross_entropy(KernelContext& c) {
  const Tensor &features = c.input(0), &labels = c.input(1);
  if (features.rank() != 2) throw invalid_argument("logits must be 2-D, but got shape " + features.shape().str());
  if (labels.rank() != 1 || labels.dim(0) != features.dim(0))
    throw invalid_argument(fmt::format("logits and labels must have the same first dimension, got "
                                       "logits shape {} and labels shape {}",
                                       features.shape().str(), labels.shape().str()));
  const int64_t n = features.dim(1);
  if (n == 0 && features.dim(0) > 0) throw invalid_argument("Must have at least one class, but got logits shape " + features.shape().str());
  Tensor &loss = c.output(0, labels.shape()), &gradient = c.output(1, features.shape());
  const auto wanted = int_values(labels);
  for (int64_t l : wanted)
    if (l < 0 || l >= n)
      throw invalid_argument(fmt::format("Received a label value of {} which is outside the valid "
                                         "range of [0, {}).  Label values: {}", l, n,
                                         labels.summary(static_cast<int>(wanted.size()))));
  visit_dtype(features.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    c.parallel_for(features.dim(0), 10.0 * static_cast<double>(n), [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r)
        row_loss(features.data<T>() + r * n, n,
                 [&](int64_t i) { return i == wanted[static_cast<size_t>(r)] ? C(1) : C(0); },
                 loss.data<T>() + r, gradient.data<T>() + r * n);
    });
  });
}

void l2_loss(KernelContext& c) {
  const Tensor& in = c.input(0);
  Tensor& out = c.output(0, Shape{});
  visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double sum = 0;  // wide, so that the order matters little
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const auto x = static_cast<double>(static_cast<Compute<T>>(in.data<T>()[i]));
      sum += x * x;
    }
    *out.data<T>() = static_cast<T>(static_cast<Compute<T>>(sum / 2));
  });
}

KernelRow row(const char* op, std::vector<DType> types, KernelFactory make) {
  return {op, "CPU", {{"T", std::move(types)}}, {}, make, {}, 0, ""};
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
