// Dimensions by their letters, and the batch normalization of graphs from before 2016.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"

namespace emplace::cpu {
namespace {

struct Formats {
  std::string from, to;
  size_t place(char letter) const { return from.find(letter); }
};

Formats formats_of(const KernelInit& i) {
  Formats f{i.attr<std::string>("src_format"), i.attr<std::string>("dst_format")};
  std::string a = f.from, b = f.to;
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  if (a != b || (f.from.size() != 4 && f.from.size() != 5) ||
      std::adjacent_find(a.begin(), a.end()) != a.end())
    throw invalid_argument(fmt::format(
        "Source and destination formats must be permutations of 4 or 5 letters, got {} and {}",
        f.from, f.to));
  return f;
}

struct DimMap {
  Formats formats;
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
Prepared make_dim_map(const KernelInit& i) { return prepared(DimMap{formats_of(i)}); }

struct VecPermute {
  Formats formats;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Formats f = formats;
    if (in.rank() != 1 && in.rank() != 2)
      throw invalid_argument(
          fmt::format("input must be a vector or 2D tensor, but got shape {}", in.shape().str()));
    const auto n = static_cast<size_t>(in.dim(0));
    if (n + 2 == f.from.size()) {  // the places of a picture alone
      for (std::string* s : {&f.from, &f.to})
        std::erase_if(*s, [](char l) { return l == 'N' || l == 'C'; });
    }
    if (n != f.from.size() || (in.rank() == 2 && in.dim(1) != 2))
      throw invalid_argument(fmt::format("input must be of size {} or {}, but got shape {}",
                                         f.from.size() - 2, f.from.size(), in.shape().str()));
    const int64_t width = in.rank() == 2 ? 2 : 1;
    const std::vector<int64_t> values = int_values(in);
    Tensor& out = c.output(0, in.shape());
    for (size_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < width; ++k)
        put_int(out, static_cast<int64_t>(i) * width + k,
                values[f.place(f.to[i]) * static_cast<size_t>(width) + static_cast<size_t>(k)]);
  }
};
Prepared make_vec_permute(const KernelInit& i) { return prepared(VecPermute{formats_of(i)}); }

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
Prepared make_normalize(const KernelInit& i) {
  return prepared(
      Normalize{i.attr<float>("variance_epsilon"), i.attr<bool>("scale_after_normalization")});
}

KernelRow row(const char* op, KernelFactory make) { return {op, "CPU", {}, {}, make, {}, 0, ""}; }

}  // namespace

std::vector<KernelRow> layout_map_kernels() {
  KernelRow normalize = row("BatchNormWithGlobalNormalization", make_normalize);
  normalize.types = {{"T", {DType::kFloat, DType::kHalf}}};
  return {row("DataFormatDimMap", make_dim_map), row("DataFormatVecPermute", make_vec_permute),
          normalize};
}

}  // namespace emplace::cpu
