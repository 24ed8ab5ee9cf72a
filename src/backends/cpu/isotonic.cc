// The falling sequence that is nearest to each row.
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/loops.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// Neighbours that rise share their mean.
struct Pool {
  double sum;
  int64_t count;
  double mean() const { return sum / static_cast<double>(count); }
};

template <class T, class R>
void regression(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 2)
    throw invalid_argument("input must be a matrix, not " + in.shape().str());
  Tensor &out = c.output(0, in.shape()), &segments = c.output(1, in.shape());
  const int64_t n = in.dim(1);
  c.parallel_for(in.dim(0), 10.0 * static_cast<double>(n), [&](int64_t begin, int64_t end) {
    std::vector<Pool> pools;
    for (int64_t r = begin; r < end; ++r) {
      pools.clear();
      for (const int64_t i : paced(n)) {
        pools.push_back({static_cast<double>(static_cast<Compute<T>>(in.data<T>()[r * n + i])), 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() < pools.back().mean()) {
          const Pool last = pools.back();
          pools.pop_back();
          pools.back().sum += last.sum;
          pools.back().count += last.count;
        }
      }
      int64_t at = r * n;
      for (size_t p = 0; p < pools.size(); ++p)
        for (int64_t k = 0; k < pools[p].count; ++k, ++at) {
          out.data<R>()[at] = static_cast<R>(static_cast<Compute<R>>(pools[p].mean()));
          segments.data<int32_t>()[at] = static_cast<int32_t>(p);
        }
    }
  });
}

template <class T, class R>
KernelRow row() {
  return {"IsotonicRegression", "CPU",
          {{"T", {DTypeOf<T>::value}}, {"output_dtype", {DTypeOf<R>::value}}}, {},
          stateless<regression<T, R>>, {}, 0, ""};
}

}  // namespace

std::vector<KernelRow> isotonic_kernels() {
  return {row<float, float>(),     row<double, double>(),   row<Half, Half>(),
          row<Bfloat16, Bfloat16>(), row<int8_t, float>(),  row<int16_t, float>(),
          row<int32_t, double>(),  row<int64_t, double>()};
}

}  // namespace emplace::cpu
