// Dimensions by their letters, and the batch normalization of graphs from before 2016.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "kernel/layout_letters.h"

namespace emplace::cpu {
namespace {

struct DimMap {
  LayoutLetters formats;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const auto rank = static_cast<int64_t>(formats.from.size());
    const std::vector<int64_t> dims = int_values(in);
    Tensor& out = c.output(0, in.shape());
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < -rank || dims[i] >= rank)
        throw invalid_argument(fmt::format("a dimension must be in [{}, {})", -rank, rank));
      const char letter = formats.from[static_cast<size_t>(dims[i] < 0 ? dims[i] + rank : dims[i])];
      put_int(out, static_cast<int64_t>(i), static_cast<int64_t>(formats.to.find(letter)));
    }
  }
};
Prepared make_dim_map(const KernelInit& i) { return prepared(DimMap{LayoutLetters(i)}); }

struct VecPermute {
  LayoutLetters formats;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const LayoutLetters f = formats.for_vector(in.shape());
    const auto n = static_cast<size_t>(in.dim(0));
    const int64_t width = in.rank() == 2 ? 2 : 1;
    const std::vector<int64_t> values = int_values(in);
    Tensor& out = c.output(0, in.shape());
    for (size_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < width; ++k)
        put_int(out, static_cast<int64_t>(i) * width + k,
                values[f.from.find(f.to[i]) * static_cast<size_t>(width) + static_cast<size_t>(k)]);
  }
};
Prepared make_vec_permute(const KernelInit& i) { return prepared(VecPermute{LayoutLetters(i)}); }

struct Normalize {
  float epsilon;
  bool scale;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4)
      throw invalid_argument(fmt::format("input must be 4-dimensional{}", in.shape().str()));
    const int64_t depth = in.dim(3);
    for (int i = 1; i < 5; ++i)
      if (c.input(i).rank() != 1 || c.input(i).dim(0) != depth)
        throw invalid_argument(
            fmt::format("mean, variance, beta and gamma must be vectors of {}", depth));
    Tensor& out = c.output(0, in.shape());
    visit_dtype(in.dtype(), Types<float, Half>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<float> factor(static_cast<size_t>(depth)), shift(static_cast<size_t>(depth));
      const auto at = [&](int input, int64_t i) {
        return static_cast<float>(c.input(input).data<T>()[i]);
      };
      for (int64_t i = 0; i < depth; ++i) {
        const float f = (1 / std::sqrt(at(2, i) + epsilon)) * (scale ? at(4, i) : 1);
        factor[static_cast<size_t>(i)] = f;
        shift[static_cast<size_t>(i)] = at(3, i);
      }
      c.parallel_for(
          in.num_elements() / std::max<int64_t>(depth, 1), static_cast<double>(depth),
          [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row)
              for (int64_t i = 0; i < depth; ++i) {
                const auto k = static_cast<size_t>(i);
                const float x = static_cast<float>(in.data<T>()[row * depth + i]) - at(1, i);
                out.data<T>()[row * depth + i] = static_cast<T>(x * factor[k] + shift[k]);
              }
          });
    });
  }
};
// (t, mean, variance, gamma, gradient)
struct NormalizeBack {
  float epsilon;
  bool scale;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &grad = c.input(4);
    if (in.rank() != 4)
      throw invalid_argument(fmt::format("input must be 4-dimensional{}", in.shape().str()));
    const int64_t depth = in.dim(3), rows = depth > 0 ? in.num_elements() / depth : 0;
    for (int i = 1; i < 4; ++i)
      if (c.input(i).rank() != 1 || c.input(i).dim(0) != depth)
        throw invalid_argument(
            fmt::format("mean, variance, beta and gamma must be vectors of {}", depth));
    if (!(grad.shape() == in.shape()))
      throw invalid_argument("backprop must have the shape of the input");
    Tensor& out = c.output(0, in.shape());
    Tensor* const sums[] = {&c.output(1, Shape{depth}), &c.output(2, Shape{depth}),
                            &c.output(3, Shape{depth}), &c.output(4, Shape{depth})};
    visit_dtype(in.dtype(), Types<float, Half>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto at = [](const Tensor& t, int64_t i) { return static_cast<float>(t.data<T>()[i]); };
      const auto put = [&](int output, int64_t i, double v) {
        sums[output - 1]->data<T>()[i] = static_cast<T>(static_cast<float>(v));
      };
      for (int64_t k = 0; k < depth; ++k) {
        const float mean = at(c.input(1), k), variance = at(c.input(2), k) + epsilon;
        const float root = 1 / std::sqrt(variance), factor = scale ? at(c.input(3), k) : 1;
        double plain = 0, off = 0;
        for (int64_t r = 0; r < rows; ++r) {
          const int64_t i = r * depth + k;
          const float g = at(grad, i);
          plain += g;
          off += g * (at(in, i) - mean);
          out.data<T>()[i] = static_cast<T>(g * root * factor);
        }
        put(1, k, -plain * root * factor);
        put(2, k, off * factor * -0.5f * root / variance);
        put(3, k, plain);
        put(4, k, scale ? off * root : 0.0);
      }
    });
  }
};
template <class Kernel>
Prepared make_normalize(const KernelInit& i) {
  return prepared(
      Kernel{i.attr<float>("variance_epsilon"), i.attr<bool>("scale_after_normalization")});
}

}  // namespace

std::vector<KernelRow> layout_map_kernels() {
  KernelRow forth = row("BatchNormWithGlobalNormalization", make_normalize<Normalize>);
  KernelRow back = row("BatchNormWithGlobalNormalizationGrad", make_normalize<NormalizeBack>);
  forth.types = back.types = {{"T", {DType::kFloat, DType::kHalf}}};
  return {row("DataFormatDimMap", make_dim_map), row("DataFormatVecPermute", make_vec_permute),
          forth, back};
}

}  // namespace emplace::cpu
