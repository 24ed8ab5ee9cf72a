// Fourier transforms over some dimensions of a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/cpu/fourier.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Complex = std::complex<double>;

Complex element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat:
      return t.data<float>()[i];
    case DType::kDouble:
      return t.data<double>()[i];
    case DType::kComplex64:
      return Complex(t.data<Complex64>()[i]);
    default:
      return t.data<Complex128>()[i];
  }
}

void put(Tensor& t, int64_t i, Complex v) {
  switch (t.dtype()) {
    case DType::kFloat:
      t.data<float>()[i] = static_cast<float>(v.real());
      break;
    case DType::kDouble:
      t.data<double>()[i] = v.real();
      break;
    case DType::kComplex64:
      t.data<Complex64>()[i] = Complex64(v);
      break;
    default:
      t.data<Complex128>()[i] = v;
  }
}

std::vector<int64_t> strides_of(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

int64_t elements(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Calls f(from, to) for the elements that arrays of two shapes have in common.
template <class F>
void each_common(std::span<const int64_t> from, std::span<const int64_t> to, F f) {
  const std::vector<int64_t> a = strides_of(from), b = strides_of(to);
  std::vector<int64_t> size(from.size());
  for (size_t i = 0; i < size.size(); ++i) size[i] = std::min(from[i], to[i]);
  const int64_t n = elements(size);
  Pace pace;
  for (int64_t k = 0; k < n; ++k) {
    pace.step();
    int64_t rest = k, x = 0, y = 0;
    for (size_t i = size.size(); i-- > 0;) {
      x += rest % size[i] * a[i];
      y += rest % size[i] * b[i];
      rest /= size[i];
    }
    f(x, y);
  }
}

// The whole tensor in double precision, with the transforms that belong to its sizes.
struct Work {
  std::vector<int64_t> dims;
  std::vector<Complex> values;
  std::map<int64_t, Fourier> transforms;

  explicit Work(std::vector<int64_t> d)
      : dims(std::move(d)), values(static_cast<size_t>(elements(dims))) {
    for (int64_t size : dims) transforms.try_emplace(size, static_cast<size_t>(size));
  }

  template <class F>
  void lines(KernelContext& c, size_t axis, F f) {
    const int64_t size = dims[axis], stride = strides_of(dims)[axis];
    const int64_t count = size == 0 ? 0 : static_cast<int64_t>(values.size()) / size;
    c.parallel_for(count, 20.0 * static_cast<double>(size), [&](int64_t b, int64_t e) {
      std::vector<Complex> line(static_cast<size_t>(size));
      for (int64_t k = b; k < e; ++k) {
        Complex* first = values.data() + k / stride * stride * size + k % stride;
        for (int64_t i = 0; i < size; ++i) line[static_cast<size_t>(i)] = first[i * stride];
        f(std::span<Complex>(line));
        for (int64_t i = 0; i < size; ++i) first[i * stride] = line[static_cast<size_t>(i)];
      }
    });
  }

  void transform(KernelContext& c, size_t axis, bool inverse) {
    const Fourier& fourier = transforms.at(dims[axis]);
    lines(c, axis, [&](std::span<Complex> line) {
      if (inverse) fourier.inverse(line);
      else fourier.forward(line);
    });
  }

  // A real signal's mean and its fastest oscillation are real; rounding leaves a trace.
  void make_ends_real(KernelContext& c, size_t axis) {
    lines(c, axis, [](std::span<Complex> line) {
      if (line.empty()) return;
      line[0] = line[0].real();
      if (line.size() % 2 == 0) line[line.size() / 2] = line[line.size() / 2].real();
    });
  }

  // The second half of a real signal's transform mirrors the first.
  void mirror(KernelContext& c, size_t axis) {
    lines(c, axis, [](std::span<Complex> line) {
      for (size_t i = line.size() / 2 + 1; i < line.size(); ++i)
        line[i] = std::conj(line[line.size() - i]);
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
    Work work(full);
    load(in, axes, work);
    run(c, axes, work);
    each_common(work.dims, out.shape().dims(), [&](int64_t from, int64_t to) {
      put(out, to, work.values[static_cast<size_t>(from)]);
    });
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

  void load(const Tensor& in, const std::vector<size_t>& axes, Work& work) const {
    std::vector<int64_t> target = work.dims;
    if (real && inverse) target[axes.back()] = work.dims[axes.back()] / 2 + 1;
    const std::vector<int64_t> to_strides = strides_of(work.dims);
    each_common(in.shape().dims(), target, [&](int64_t from, int64_t to) {
      // `to` counts in the narrower target: place it in the whole.
      int64_t at = 0, rest = to;
      for (size_t i = target.size(); i-- > 0;) {
        at += rest % target[i] * to_strides[i];
        rest /= target[i];
      }
      work.values[static_cast<size_t>(at)] = element(in, from);
    });
  }

  void run(KernelContext& c, const std::vector<size_t>& axes, Work& work) const {
    if (!(real && inverse)) {
      for (size_t i = axes.size(); i-- > 0;) {
        work.transform(c, axes[i], inverse);
        if (real && i + 1 == axes.size()) work.make_ends_real(c, axes[i]);
      }
      return;
    }
    for (size_t i = 0; i + 1 < axes.size(); ++i) work.transform(c, axes[i], true);
    work.mirror(c, axes.back());
    work.transform(c, axes.back(), true);
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
