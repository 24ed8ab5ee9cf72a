// Fourier transforms over some dimensions of a tensor.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/fourier.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

std::vector<int64_t> dims_of(const Shape& s) { return {s.dims().begin(), s.dims().end()}; }

// A tensor seen as [outer, size, inner] around one dimension.
struct Around {
  int64_t outer = 1, size, inner = 1;
  Around(const std::vector<int64_t>& dims, size_t axis) : size(dims[axis]) {
    for (size_t i = 0; i < axis; ++i) outer *= dims[i];
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  }
};

// The part that arrays of two shapes have in common; the rest of the result is zero.
Tensor cut_or_padded(KernelContext& c, const Tensor& in, const std::vector<int64_t>& dims) {
  const Shape shape{std::span<const int64_t>(dims)};
  if (in.shape() == shape) return in;
  Tensor out = c.temp(in.dtype(), shape);
  const Mover mover(in.dtype());
  mover.zero(out, 0, out.num_elements());
  const int last = in.rank() - 1;
  const int64_t run = std::min(in.dim(last), shape[last]);
  int64_t rows = 1;
  for (int d = 0; d < last; ++d) rows *= std::min(in.dim(d), shape[d]);
  Pace pace;
  for (int64_t r = 0; r < rows && run > 0; ++r) {
    pace.step();
    int64_t rest = r, from = 0, to = 0, from_stride = in.dim(last), to_stride = shape[last];
    for (int d = last; d-- > 0;) {
      const int64_t size = std::min(in.dim(d), shape[d]);
      from += rest % size * from_stride;
      to += rest % size * to_stride;
      rest /= size;
      from_stride *= in.dim(d);
      to_stride *= shape[d];
    }
    mover.copy(out, to, in, from, run);
  }
  return out;
}

// Transforms of the numbers T over dimensions of a tensor.
template <class T>
struct Transforms {
  using Complex = std::complex<T>;
  using Plan = Fourier<T>;
  static constexpr int64_t kLanes = Plan::kLanes;
  static constexpr int64_t kFewRows = 4;  // of which each goes by itself

  KernelContext& c;

  // Calls f(first signal, how many, scratch) for groups of signals.
  template <class F>
  void groups(int64_t signals, double cost, const F& f) const {
    c.parallel_for((signals + kLanes - 1) / kLanes, kLanes * cost, [&](int64_t b, int64_t e) {
      std::vector<T> work;
      for (int64_t g = b; g < e; ++g)
        f(g * kLanes, static_cast<int>(std::min(kLanes, signals - g * kLanes)), work);
    });
  }

  void one(const Plan& plan, typename Plan::In in, typename Plan::Out out, bool inverse) const {
    const auto each = [this](int64_t n, double cost, FunctionRef<void(int64_t, int64_t)> f) {
      c.parallel_for(n, cost, [&f](int64_t b, int64_t e) { f(b, e); });
    };
    plan.one(in, out, inverse, each);
  }

  void along(const Complex* in, Complex* out, const Around& a, bool inverse) const {
    const auto plan = Plan::of(a.size);
    if (a.inner == 1 && a.outer < kFewRows && plan->splits()) {
      for (int64_t r = 0; r < a.outer; ++r)
        one(*plan, {in + r * a.size, 0, 1}, {out + r * a.size, 0, 1}, inverse);
    } else if (a.inner == 1) {
      groups(a.outer, plan->cost(), [&](int64_t r, int count, std::vector<T>& work) {
        plan->some({in + r * a.size, a.size, 1}, {out + r * a.size, a.size, 1}, count, inverse, work);
      });
    } else {
      const int64_t parts = (a.inner + kLanes - 1) / kLanes;
      c.parallel_for(a.outer * parts, kLanes * plan->cost(), [&](int64_t b, int64_t e) {
        std::vector<T> work;
        for (int64_t g = b; g < e; ++g) {
          const int64_t lane = g % parts * kLanes, at = g / parts * a.size * a.inner + lane;
          const auto count = static_cast<int>(std::min(kLanes, a.inner - lane));
          plan->some({in + at, 1, a.inner}, {out + at, 1, a.inner}, count, inverse, work);
        }
      });
    }
  }

  // Real signals of n, each to the first half of its transform. Those of even length are transformed
  // as complex ones of half of it, and taken apart.
  void real_rows(const T* in, Complex* out, int64_t rows, int64_t n) const {
    const int64_t half = n / 2, width = half + 1;
    if (n % 2 != 0) {
      const auto plan = Plan::of(n);
      return groups(rows, 2 * plan->cost(), [&](int64_t r, int count, std::vector<T>& work) {
        std::vector<Complex> line(static_cast<size_t>(n * count));
        std::copy(in + r * n, in + (r + count) * n, line.begin());
        plan->some({line.data(), n, 1}, {line.data(), n, 1}, count, false, work);
        for (int l = 0; l < count; ++l) {
          Complex* to = out + (r + l) * width;
          std::copy_n(line.begin() + l * n, width, to);
          to[0] = to[0].real();
        }
      });
    }
    const auto plan = Plan::of(half);
    const std::vector<Complex>& turns = plan->turns();
    const auto* pairs = reinterpret_cast<const Complex*>(in);
    if (rows < kFewRows && plan->splits()) {
      std::vector<Complex> line(static_cast<size_t>(half));
      for (int64_t r = 0; r < rows; ++r) {
        one(*plan, {pairs + r * half, 0, 1}, {line.data(), 0, 1}, false);
        take_apart(line.data(), out + r * width, half, turns);
      }
      return;
    }
    groups(rows, 1.5 * plan->cost(), [&](int64_t r, int count, std::vector<T>& work) {
      std::vector<Complex> lines(static_cast<size_t>(half * count));
      plan->some({pairs + r * half, half, 1}, {lines.data(), half, 1}, count, false, work);
      for (int l = 0; l < count; ++l)
        take_apart(lines.data() + l * half, out + (r + l) * width, half, turns);
    });
  }

  // z = transform of (even) + i·(odd) elements.
  static void take_apart(const Complex* z, Complex* out, int64_t half,
                         const std::vector<Complex>& turns) {
    out[0] = z[0].real() + z[0].imag();
    out[half] = z[0].real() - z[0].imag();
    for (int64_t k = 1; k < half; ++k) {
      const Complex a = z[k], b = std::conj(z[half - k]);
      const Complex even = (a + b) * T(0.5), odd = (a - b) * T(0.5);
      const Complex turned = times(odd, turns[static_cast<size_t>(k)]);
      out[k] = {even.real() + turned.imag(), even.imag() - turned.real()};
    }
  }

  static void put_together(const Complex* x, Complex* z, int64_t half,
                           const std::vector<Complex>& turns) {
    z[0] = {(x[0].real() + x[half].real()) * T(0.5), (x[0].real() - x[half].real()) * T(0.5)};
    for (int64_t k = 1; k < half; ++k) {
      const Complex a = x[k], b = std::conj(x[half - k]);
      const Complex even = (a + b) * T(0.5), odd = (a - b) * T(0.5);
      const Complex turned = times(odd, std::conj(turns[static_cast<size_t>(k)]));
      z[k] = {even.real() - turned.imag(), even.imag() + turned.real()};
    }
  }

  // The way back: rows of n / 2 + 1 to real signals of n.
  void rows_to_real(const Complex* in, T* out, int64_t rows, int64_t n) const {
    const int64_t half = n / 2, width = half + 1;
    if (n % 2 != 0) {
      const auto plan = Plan::of(n);
      return groups(rows, 2 * plan->cost(), [&](int64_t r, int count, std::vector<T>& work) {
        std::vector<Complex> lines(static_cast<size_t>(n * count));
        for (int l = 0; l < count; ++l) {
          const Complex* x = in + (r + l) * width;
          Complex* line = lines.data() + l * n;
          std::copy_n(x, width, line);
          for (int64_t i = width; i < n; ++i) line[i] = std::conj(x[n - i]);  // mirrored
        }
        plan->some({lines.data(), n, 1}, {lines.data(), n, 1}, count, true, work);
        for (int64_t i = 0; i < n * count; ++i) out[r * n + i] = lines[static_cast<size_t>(i)].real();
      });
    }
    const auto plan = Plan::of(half);
    const std::vector<Complex>& turns = plan->turns();
    auto* pairs = reinterpret_cast<Complex*>(out);
    if (rows < kFewRows && plan->splits()) {
      std::vector<Complex> line(static_cast<size_t>(half));
      for (int64_t r = 0; r < rows; ++r) {
        put_together(in + r * width, line.data(), half, turns);
        one(*plan, {line.data(), 0, 1}, {pairs + r * half, 0, 1}, true);
      }
      return;
    }
    groups(rows, 1.5 * plan->cost(), [&](int64_t r, int count, std::vector<T>& work) {
      std::vector<Complex> lines(static_cast<size_t>(half * count));
      for (int l = 0; l < count; ++l)
        put_together(in + (r + l) * width, lines.data() + l * half, half, turns);
      plan->some({lines.data(), half, 1}, {pairs + r * half, half, 1}, count, true, work);
    });
  }
};

struct Fft {
  int rank;  // how many of the last dimensions
  bool inverse, real;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const std::vector<size_t> axes = axes_of(c);
    std::vector<int64_t> full(in.shape().dims().begin(), in.shape().dims().end());
    if (c.num_inputs() > 1) set_lengths(c, axes, full);
    Shape out_shape{std::span<const int64_t>(full)};
    if (real && !inverse && full[axes.back()] > 0)
      out_shape.set_dim(static_cast<int>(axes.back()), full[axes.back()] / 2 + 1);
    Tensor& out = c.output(0, out_shape);
    if (out.num_elements() == 0) return;
    const DType kind = real && inverse ? in.dtype() : out.dtype();
    if (kind == DType::kComplex64) run<float>(c, in, axes, full, out);
    else run<double>(c, in, axes, full, out);
  }

  std::vector<size_t> axes_of(KernelContext& c) const {
    const int in_rank = c.input(0).rank();
    if (in_rank < rank)
      throw invalid_argument(fmt::format("Input must have rank of at least {} but got: {}", rank,
                                         c.input(0).shape().str()));
    std::vector<size_t> axes;
    for (int i = in_rank - rank; i < in_rank; ++i) axes.push_back(static_cast<size_t>(i));
    return axes;
  }

  void set_lengths(KernelContext& c, const std::vector<size_t>& axes,
                   std::vector<int64_t>& full) const {
    const std::vector<int64_t> lengths = int_values(c.input(1));
    if (lengths.size() != axes.size())
      throw invalid_argument(fmt::format("fft_length must have shape [{}]", axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      if (lengths[i] < 0)
        throw invalid_argument(fmt::format("fft_length[{}] must >= 0, but got: {}", i, lengths[i]));
      const bool half = real && inverse && i + 1 == axes.size();
      const int64_t needed = half && lengths[i] > 0 ? lengths[i] / 2 + 1 : lengths[i];
      // Nothing at all may be transformed to something.
      const bool empty = c.input(0).num_elements() == 0;
      if (!empty && full[axes[i]] < needed)
        throw invalid_argument(
            fmt::format("Input dimension {} must have length of at least {} but got: {}", axes[i],
                        needed, full[axes[i]]));
      full[axes[i]] = lengths[i];
    }
  }

  template <class T>
  void run(KernelContext& c, const Tensor& in, const std::vector<size_t>& axes,
           const std::vector<int64_t>& full, Tensor& out) const {
    using Complex = std::complex<T>;
    constexpr DType kReal = DTypeOf<T>::value, kComplex = DTypeOf<Complex>::value;
    if (in.dtype() != (real && !inverse ? kReal : kComplex) ||
        out.dtype() != (real && inverse ? kReal : kComplex))
      throw invalid_argument(fmt::format("{} is no transform of {}", dtype_name(out.dtype()),
                                         dtype_name(in.dtype())));
    const Transforms<T> transforms{c};
    const size_t last = axes.back();
    if (real && inverse) return to_real<T>(transforms, in, axes, full, out);
    const Tensor whole = cut_or_padded(c, in, full);
    auto* to = out.data<Complex>();
    const std::vector<int64_t> dims = dims_of(out.shape());
    if (real) transforms.real_rows(whole.data<T>(), to, Around(full, last).outer, full[last]);
    else transforms.along(whole.data<Complex>(), to, Around(dims, last), inverse);
    for (size_t i = axes.size() - 1; i-- > 0;)
      transforms.along(to, to, Around(dims, axes[i]), inverse);
  }

  template <class T>
  void to_real(const Transforms<T>& transforms, const Tensor& in, const std::vector<size_t>& axes,
               const std::vector<int64_t>& full, Tensor& out) const {
    using Complex = std::complex<T>;
    const size_t last = axes.back();
    std::vector<int64_t> dims = full;
    dims[last] = full[last] / 2 + 1;
    const Tensor whole = cut_or_padded(transforms.c, in, dims);
    const Complex* from = whole.data<Complex>();
    Tensor work;
    if (axes.size() > 1) work = transforms.c.temp(whole.dtype(), whole.shape());
    for (size_t i = 0; i + 1 < axes.size(); ++i) {
      transforms.along(from, work.data<Complex>(), Around(dims, axes[i]), true);
      from = work.data<Complex>();
    }
    transforms.rows_to_real(from, out.data<T>(), Around(full, last).outer, full[last]);
  }
};

template <int kRank, bool kInverse, bool kReal>
Prepared make(const KernelInit&) {
  return prepared(Fft{kRank, kInverse, kReal});
}

template <bool kInverse, bool kReal>
void add(std::vector<KernelRow>& rows, const std::string& name) {
  const KernelFactory makers[] = {make<1, kInverse, kReal>, make<2, kInverse, kReal>,
                                  make<3, kInverse, kReal>};
  const char* suffixes[] = {"", "2D", "3D"};
  for (int i = 0; i < 3; ++i)
    rows.push_back({name + suffixes[i], "CPU", {}, {}, makers[i], {}, 0, ""});
}

}  // namespace

std::vector<KernelRow> fft_kernels() {
  std::vector<KernelRow> rows;
  add<false, false>(rows, "FFT");
  add<true, false>(rows, "IFFT");
  add<false, true>(rows, "RFFT");
  add<true, true>(rows, "IRFFT");
  return rows;
}

}  // namespace emplace::cpu
