// FusedBatchNorm, LRN and their gradients.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/simd_math.h"

namespace emplace::cpu {
namespace {

// ---- Batch normalisation: images seen as a matrix [rows, channels].

struct Columns {
  int64_t rows, channels;
};

// Sums over rows by column, of two things at once: f(row's index, sums, more) adds a row's share.
// Rows fall into parts by their number only; parts are merged in order, in double.
template <class F>
void column_sums(KernelContext& c, const Columns& s, F&& f, double* sums, double* more) {
  constexpr int64_t kHeight = 512, kMost = 64;
  const int64_t parts = std::clamp<int64_t>((s.rows + kHeight - 1) / kHeight, 1, kMost);
  const int64_t height = (s.rows + parts - 1) / parts, n = s.channels;
  const Tensor space = c.temp(DType::kFloat, Shape{parts, 2, n});
  float* all = space.data<float>();
  std::fill_n(all, parts * 2 * n, 0.0f);
  c.parallel_for(parts, 0.5 * static_cast<double>(height * n) + 50, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; ++p)
      f(p * height, std::min((p + 1) * height, s.rows), all + p * 2 * n, all + (p * 2 + 1) * n);
  });
  std::fill_n(sums, n, 0.0);
  std::fill_n(more, n, 0.0);
  for (int64_t p = 0; p < parts; ++p)
    for (int64_t i = 0; i < n; ++i) {
      sums[i] += static_cast<double>(all[p * 2 * n + i]);
      more[i] += static_cast<double>(all[(p * 2 + 1) * n + i]);
    }
}

void sum_rows(const float* x, int64_t begin, int64_t end, int64_t n, float* sums) {
  for (int64_t r = begin; r < end; ++r)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += x[r * n + i];
}
void sum_squares(const float* x, const float* mean, int64_t begin, int64_t end, int64_t n,
                 float* sums) {
  for (int64_t r = begin; r < end; ++r)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const float d = x[r * n + i] - mean[i];
      sums[i] += d * d;
    }
}
// sums += dy, more += dy * (x - mean)
void sum_products(const float* dy, const float* x, const float* mean, int64_t begin, int64_t end,
                  int64_t n, float* sums, float* more) {
  for (int64_t r = begin; r < end; ++r)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      sums[i] += dy[r * n + i];
      more[i] += dy[r * n + i] * (x[r * n + i] - mean[i]);
    }
}
// y = x * factor + shift by column
void affine(const float* x, const float* factor, const float* shift, int64_t begin, int64_t end,
            int64_t n, float* y) {
  for (int64_t r = begin; r < end; ++r)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] * factor[i] + shift[i];
}
// dx = dy * a - x * b + s by column
void gradient_rows(const float* dy, const float* x, const float* a, const float* b, const float* s,
                   int64_t begin, int64_t end, int64_t n, float* dx) {
  for (int64_t r = begin; r < end; ++r)
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      dx[r * n + i] = dy[r * n + i] * a[i] - x[r * n + i] * b[i] + s[i];
}

using Floats1 = std::vector<float>;
using Doubles1 = std::vector<double>;

bool is_channels_first(const KernelInit& init) {
  return init.attr<std::string>("data_format").starts_with("NC");
}

// [rows, channels] of an image laid out as the attribute says.
Columns columns_of(const Tensor& x, bool first) {
  if (x.rank() != 4 && x.rank() != 5)
    throw invalid_argument("input must be 4 or 5-dimensional" + x.shape().str());
  const int64_t channels = x.dim(first ? 1 : x.rank() - 1);
  int64_t rows = 1;
  for (int i = 0; i < x.rank(); ++i)
    if (i != (first ? 1 : x.rank() - 1)) rows *= x.dim(i);
  return {rows, channels};
}

void check_channels(const Tensor& t, const char* what, int64_t channels) {
  if (t.rank() != 1)
    throw invalid_argument(fmt::format("{} must be 1-dimensional{}", what, t.shape().str()));
  if (t.dim(0) != channels)
    throw invalid_argument(
        fmt::format("{} must have the same number of elements as the channels of "
                    "x, got {} and {}",
                    what, t.dim(0), channels));
}

struct BatchNorm {
  float epsilon, average;
  bool training, first;

  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const Columns s = columns_of(x, first);
    check_channels(c.input(1), "scale", s.channels);
    check_channels(c.input(2), "offset", s.channels);
    const bool keeps = !training || average != 1.0f;
    if (keeps) {
      check_channels(c.input(3), "mean", s.channels);
      check_channels(c.input(4), "variance", s.channels);
    }
    Tensor& out = c.output(0, x.shape());
    Tensor* stats[4];
    for (int i = 0; i < 4; ++i) stats[i] = &c.output(i + 1, Shape{s.channels});
    if (c.num_outputs() > 5) *c.output(5, Shape{}).data<float>() = 0;
    const Tensor wide = wide_input(c, x, first);
    const auto n = static_cast<size_t>(s.channels);
    Floats1 mean(n), variance(n);
    if (training) measure(c, s, wide.data<float>(), mean, variance);
    for (size_t i = 0; !training && i < n; ++i) {
      mean[i] = c.input(3).data<float>()[i];
      variance[i] = c.input(4).data<float>()[i];
    }
    put_statistics(c, s, mean, variance, stats);
    if (s.rows > 0) normalise(c, s, wide, mean, variance, out);
  }

  void measure(KernelContext& c, const Columns& s, const float* x, Floats1& mean,
               Floats1& variance) const {
    const int64_t n = s.channels;
    Doubles1 sums(mean.size()), unused(mean.size());
    const auto rows = static_cast<double>(std::max<int64_t>(1, s.rows));
    column_sums(
        c, s, [&](int64_t b, int64_t e, float* to, float*) { best<sum_rows>()(x, b, e, n, to); },
        sums.data(), unused.data());
    for (size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<float>(sums[i] / rows);
    column_sums(
        c, s,
        [&](int64_t b, int64_t e, float* to, float*) {
          best<sum_squares>()(x, mean.data(), b, e, n, to);
        },
        sums.data(), unused.data());
    for (size_t i = 0; i < mean.size(); ++i) variance[i] = static_cast<float>(sums[i] / rows);
  }

  // Running averages (of the unbiased variance), then what the gradient needs.
  void put_statistics(KernelContext& c, const Columns& s, const Floats1& mean,
                      const Floats1& variance, Tensor** stats) const {
    const auto rows = static_cast<float>(s.rows);
    const float unbiased = s.rows > 1 ? rows / (rows - 1) : rows;
    for (int64_t i = 0; i < s.channels; ++i) {
      const auto k = static_cast<size_t>(i);
      float m = mean[k], v = training ? variance[k] * unbiased : variance[k];
      if (training && average != 1.0f) {
        m = (1 - average) * c.input(3).data<float>()[i] + average * m;
        v = (1 - average) * c.input(4).data<float>()[i] + average * v;
      }
      if (training && s.rows == 0 && average == 1.0f) m = v = std::nanf("");
      stats[0]->data<float>()[i] = m;
      stats[1]->data<float>()[i] = v;
      stats[2]->data<float>()[i] = training ? mean[k] : 0;
      stats[3]->data<float>()[i] = training ? variance[k] : 0;
    }
  }

  void normalise(KernelContext& c, const Columns& s, const Tensor& x, const Floats1& mean,
                 const Floats1& variance, Tensor& out) const {
    Floats1 factor(mean.size()), shift(mean.size());
    for (size_t i = 0; i < mean.size(); ++i) {
      factor[i] = c.input(1).data<float>()[i] / std::sqrt(variance[i] + epsilon);
      shift[i] = c.input(2).data<float>()[i] - mean[i] * factor[i];
    }
    WideOutput y(c, out, first);
    c.parallel_for(s.rows, 0.3 * static_cast<double>(s.channels) + 2, [&](int64_t b, int64_t e) {
      best<affine>()(x.data<float>(), factor.data(), shift.data(), b, e, s.channels,
                     y.tensor().data<float>());
    });
    y.finish();
  }
};

Prepared make_batch_norm(const KernelInit& init) {
  return prepared(BatchNorm{init.attr<float>("epsilon"), init.attr<float>("exponential_avg_factor"),
                            init.attr<bool>("is_training"), is_channels_first(init)});
}

struct BatchNormGradient {
  float epsilon;
  bool training, first;

  void operator()(KernelContext& c) const {
    const Tensor &dy = c.input(0), &x = c.input(1);
    if (!(dy.shape() == x.shape()))
      throw invalid_argument(
          fmt::format("x and y_backprop must have same shape, but x has shape {} "
                      "and y_backprop has shape {}",
                      x.shape().str(), dy.shape().str()));
    const Columns s = columns_of(x, first);
    const char* names[] = {"scale", "reserve_space_1", "reserve_space_2"};
    for (int i = 0; i < 3; ++i) check_channels(c.input(i + 2), names[i], s.channels);
    Tensor& dx = c.output(0, x.shape());
    Tensor &to_scale = c.output(1, Shape{s.channels}), &to_offset = c.output(2, Shape{s.channels});
    c.output(3, Shape{0});
    c.output(4, Shape{0});
    run(c, s, wide_input(c, dy, first), wide_input(c, x, first), dx, to_scale, to_offset);
  }

  void run(KernelContext& c, const Columns& s, const Tensor& dy, const Tensor& x, Tensor& dx,
           Tensor& to_scale, Tensor& to_offset) const {
    const int64_t n = s.channels;
    const float *scale = c.input(2).data<float>(), *mean = c.input(3).data<float>(),
                *variance = c.input(4).data<float>();
    Doubles1 sum(static_cast<size_t>(n)), product(static_cast<size_t>(n));
    column_sums(
        c, s,
        [&](int64_t b, int64_t e, float* to, float* more) {
          best<sum_products>()(dy.data<float>(), x.data<float>(), mean, b, e, n, to, more);
        },
        sum.data(), product.data());
    Floats1 a(sum.size()), b(sum.size()), shift(sum.size());
    for (size_t i = 0; i < sum.size(); ++i) {
      const double inverse =
          1 / std::sqrt(static_cast<double>(variance[i]) + static_cast<double>(epsilon));
      to_offset.data<float>()[i] = static_cast<float>(sum[i]);
      to_scale.data<float>()[i] = static_cast<float>(product[i] * inverse);
      const double factor = static_cast<double>(scale[i]) * inverse;
      a[i] = static_cast<float>(factor);
      if (!training || s.rows == 0) continue;
      const auto rows = static_cast<double>(s.rows);
      const double slope = factor * product[i] / rows * inverse * inverse;
      b[i] = static_cast<float>(slope);
      shift[i] = static_cast<float>(slope * static_cast<double>(mean[i]) - factor * sum[i] / rows);
    }
    if (s.rows == 0) return;
    WideOutput to(c, dx, first);
    c.parallel_for(s.rows, 0.4 * static_cast<double>(n) + 2, [&](int64_t begin, int64_t end) {
      best<gradient_rows>()(dy.data<float>(), x.data<float>(), a.data(), b.data(), shift.data(),
                            begin, end, n, to.tensor().data<float>());
    });
    to.finish();
  }
};

Prepared make_batch_norm_gradient(const KernelInit& init) {
  return prepared(BatchNormGradient{init.attr<float>("epsilon"), init.attr<bool>("is_training"),
                                    is_channels_first(init)});
}

// ---- LRN.

struct Lrn {
  int64_t radius;
  float bias, alpha, beta;

  static Lrn of(const KernelInit& init) {
    const auto radius = init.attr<int64_t>("depth_radius");
    if (radius < 0 || radius > INT32_MAX)
      throw invalid_argument(fmt::format("depth_radius = {} larger than int max", radius));
    return {radius, init.attr<float>("bias"), init.attr<float>("alpha"), init.attr<float>("beta")};
  }
  std::pair<int64_t, int64_t> around(int64_t i, int64_t n) const {
    return {std::max<int64_t>(0, i - radius), std::min(n, i + std::min(radius, n) + 1)};
  }
  // bias + alpha * the squares around each; `squares` is scratch.
  void norms(const float* x, int64_t n, std::vector<float>& squares, float* out) const {
    const int64_t reach = std::min(radius, n - 1);
    squares.assign(static_cast<size_t>(n + 2 * reach), 0.0f);
    for (int64_t i = 0; i < n; ++i) squares[static_cast<size_t>(reach + i)] = x[i] * x[i];
    static const auto loop = best<sum_windows>();
    loop(squares.data(), n, 2 * reach + 1, alpha, bias, out);
  }
  static void sum_windows(const float* squares, int64_t n, int64_t width, float alpha, float bias,
                          float* out) {
    constexpr int64_t kBlock = 32;
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      float sums[kBlock] = {};
      for (int64_t k = 0; k < width; ++k)
        for (int64_t j = 0; j < kBlock; ++j) sums[j] += squares[i + k + j];
      for (int64_t j = 0; j < kBlock; ++j) out[i + j] = bias + alpha * sums[j];
    }
    for (; i < n; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < width; ++k) sum += squares[i + k];
      out[i] = bias + alpha * sum;
    }
  }
  // bias + alpha * the squares around i
  float norm(const float* x, int64_t i, int64_t n) const {
    const auto [begin, end] = around(i, n);
    float sum = 0;
    for (int64_t k = begin; k < end; ++k) sum += x[k] * x[k];
    return bias + alpha * sum;
  }
  void powers(float* norms, int64_t n) const {
    static const UnaryLoop roots = simd_loop(Fn::kRsqrt, DType::kFloat);
    if (beta == 0.5f && roots) return roots(norms, norms, n);
    for (int64_t i = 0; i < n; ++i) norms[i] = power(norms[i]);
  }
  float power(float norm) const {
    return beta == 0.5f ? 1 / std::sqrt(norm) : beta == 1.0f ? 1 / norm : std::pow(norm, -beta);
  }
};

double lrn_cost(const Lrn& l, int64_t n) {
  return static_cast<double>(n) * (10 + static_cast<double>(std::min(l.radius, n))) + 20;
}

struct LrnForward {
  Lrn l;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4) throw invalid_argument("in must be 4-dimensional");
    Tensor& out = c.output(0, in.shape());
    if (in.num_elements() == 0) return;
    const Tensor x = widened(c, in);
    WideOutput y(c, out, false);
    const int64_t n = in.dim(3);
    c.parallel_for(in.num_elements() / n, lrn_cost(l, n), [&](int64_t b, int64_t e) {
      std::vector<float> squares, norms(static_cast<size_t>(n));
      for (int64_t r = b; r < e; ++r) {
        const float* from = x.data<float>() + r * n;
        float* to = y.tensor().data<float>() + r * n;
        l.norms(from, n, squares, norms.data());
        l.powers(norms.data(), n);
        for (int64_t i = 0; i < n; ++i) to[i] = from[i] * norms[static_cast<size_t>(i)];
      }
    });
    y.finish();
  }
};

struct LrnGradient {
  Lrn l;
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &in = c.input(1), &out = c.input(2);
    if (gradient.rank() != 4 || in.rank() != 4)
      throw invalid_argument("inputs must be 4-dimensional");
    if (!(gradient.shape() == in.shape()) || !(out.shape() == in.shape()))
      throw invalid_argument("input_grads, input_image, and out_image should have the same shape");
    Tensor& result = c.output(0, in.shape());
    if (in.num_elements() == 0) return;
    const Tensor g = widened(c, gradient), x = widened(c, in), y = widened(c, out);
    WideOutput dx(c, result, false);
    const int64_t n = in.dim(3);
    c.parallel_for(in.num_elements() / n, 2 * lrn_cost(l, n), [&](int64_t b, int64_t e) {
      for (int64_t r = b * n; r < e * n; r += n)
        row(g.data<float>() + r, x.data<float>() + r, y.data<float>() + r,
            dx.tensor().data<float>() + r, n);
    });
    dx.finish();
  }
  void row(const float* g, const float* x, const float* y, float* dx, int64_t n) const {
    std::fill_n(dx, n, 0.0f);
    for (int64_t i = 0; i < n; ++i) {
      const float norm = l.norm(x, i, n);
      const float factor = -2 * l.alpha * l.beta * y[i] / norm * g[i];
      const auto [begin, end] = l.around(i, n);
      for (int64_t k = begin; k < end; ++k) dx[k] += factor * x[k];
      dx[i] += l.power(norm) * g[i];
    }
  }
};

Prepared make_lrn(const KernelInit& init) { return prepared(LrnForward{Lrn::of(init)}); }
Prepared make_lrn_gradient(const KernelInit& init) { return prepared(LrnGradient{Lrn::of(init)}); }

}  // namespace

std::vector<KernelRow> normalization_kernels() {
  using enum DType;
  const std::vector<DType> small = {kFloat, kHalf, kBfloat16}, single = {kFloat};
  auto row = [](const char* op, std::vector<TypeConstraint> types, KernelFactory make) {
    return KernelRow{op, "CPU", std::move(types), {}, make, {}, 0, ""};
  };
  return {row("FusedBatchNorm", {{"T", single}}, make_batch_norm),
          row("FusedBatchNormV2", {{"T", small}, {"U", single}}, make_batch_norm),
          row("FusedBatchNormV3", {{"T", small}, {"U", single}}, make_batch_norm),
          row("FusedBatchNormGrad", {{"T", single}}, make_batch_norm_gradient),
          row("FusedBatchNormGradV2", {{"T", small}, {"U", single}}, make_batch_norm_gradient),
          row("FusedBatchNormGradV3", {{"T", small}, {"U", single}}, make_batch_norm_gradient),
          row("LRN", {{"T", {kFloat, kHalf}}}, make_lrn),
          row("LRNGrad", {{"T", {kFloat, kHalf}}}, make_lrn_gradient)};
}

}  // namespace emplace::cpu
