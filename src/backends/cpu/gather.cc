#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

void gather(KernelContext& c, const Tensor& params, const Tensor& indices, int64_t axis,
            int64_t batch) {
  if (params.rank() == 0) throw invalid_argument("params must be at least 1 dimensional");
  const int at = checked_axis(axis, params.rank());
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > at)
    throw invalid_argument(fmt::format("batch_dims ({}) must be less than or equal to axis ({}) "
                                       "and the rank of indices ({})", batch, at, indices.rank()));
  const int b = static_cast<int>(batch);
  Shape shape;
  for (int i = 0; i < at; ++i) {
    if (i < b && params.dim(i) != indices.dim(i))
      throw invalid_argument(fmt::format("params.shape[{0}]: {1} should be equal to "
                                         "indices.shape[{0}]: {2}", i, params.dim(i),
                                         indices.dim(i)));
    shape.push_back(params.dim(i));
  }
  for (int i = b; i < indices.rank(); ++i) shape.push_back(indices.dim(i));
  for (int i = at + 1; i < params.rank(); ++i) shape.push_back(params.dim(i));
  Tensor& out = c.output(0, shape);
  const int64_t batches = dims_product(params.shape(), 0, b);
  const int64_t outer = dims_product(params.shape(), b, at);
  const int64_t count = dims_product(indices.shape(), b, indices.rank());
  const int64_t inner = dims_product(params.shape(), at + 1, params.rank()), limit = params.dim(at);
  for (const int64_t i : paced(out.num_elements() > 0 ? indices.num_elements() : 0)) {
    const int64_t k = index_at(indices, i);
    if (k < 0 || k >= limit)
      throw invalid_argument(
          fmt::format("indices{} = {} is not in [0, {})",
                      position_text(indices.shape(), indices.rank(), i), k, limit));
  }
  const Mover mover(params.dtype());
  c.parallel_for(batches * outer * count, move_cost(params.dtype()) * static_cast<double>(inner) + 4,
                 [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / count, k = index_at(indices, row / outer * count + i % count);
      mover.copy(out, i * inner, params, (row * limit + k) * inner, inner);
    }
  });
}

void gather_v1(KernelContext& c) { gather(c, c.input(0), c.input(1), 0, 0); }

struct GatherV2 {
  int64_t batch;
  void operator()(KernelContext& c) const {
    gather(c, c.input(0), c.input(1), int_scalar(c.input(2), "axis"), batch);
  }
};
Prepared make_v2(const KernelInit& i) { return prepared(GatherV2{i.attr<int64_t>("batch_dims")}); }

// What the variable at input 0 holds, which must be of the dtype that was promised.
Tensor params_of(KernelContext& c) {
  Tensor params = c.variable(0).read();
  if (params.dtype() != c.output_type(0))
    throw invalid_argument(fmt::format("Trying to gather from a variable of dtype {} as dtype {}",
                                       dtype_name(params.dtype()), dtype_name(c.output_type(0))));
  return params;
}

struct ResourceGather {
  int64_t batch;
  void operator()(KernelContext& c) const {
    gather(c, params_of(c), c.input(1), batch, batch);
  }
};
Prepared make_resource(const KernelInit& i) {
  return prepared(ResourceGather{i.attr<int64_t>("batch_dims")});
}

// Each row of indices names a slice of params. With "IGNORE" a bad one gives zeros.
void gather_nd(KernelContext& c, const Tensor& params, const Tensor& indices, bool ignore) {
  if (indices.rank() < 1) throw invalid_argument("indices must be at least a vector");
  if (params.rank() < 1) throw invalid_argument("params must be at least a vector");
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank())
    throw invalid_argument(fmt::format("index innermost dimension length must be <= params rank; "
                                       "saw: {} vs. {}", depth, params.rank()));
  const int d = static_cast<int>(depth);
  Shape shape;
  for (int i = 0; i + 1 < indices.rank(); ++i) shape.push_back(indices.dim(i));
  for (int i = d; i < params.rank(); ++i) shape.push_back(params.dim(i));
  Tensor& out = c.output(0, shape);
  const int64_t rows = dims_product(indices.shape(), 0, indices.rank() - 1);
  const int64_t inner = dims_product(params.shape(), d, params.rank());
  if (out.num_elements() == 0) return;
  const Mover mover(params.dtype());
  c.parallel_for(rows, move_cost(params.dtype()) * static_cast<double>(inner) + 5.0 * d,
                 [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = 0;
      bool inside = true;
      for (int i = 0; i < d; ++i) {
        const int64_t k = index_at(indices, r * depth + i);
        inside = inside && k >= 0 && k < params.dim(i);
        at = at * params.dim(i) + (inside ? k : 0);
      }
      if (!inside && !ignore)
        throw invalid_argument(
            fmt::format("indices{} = {} does not index into param shape {}, node name: {}",
                        position_text(indices.shape(), indices.rank() - 1, r), index_row(indices, r), params.shape().str(), c.node()));
      inside ? mover.copy(out, r * inner, params, at * inner, inner)
             : mover.zero(out, r * inner, inner);
    }
  });
}

struct GatherNd {
  bool ignore, resource;
  void operator()(KernelContext& c) const {
    if (resource) return gather_nd(c, params_of(c), c.input(1), ignore);
    gather_nd(c, c.input(0), c.input(1), ignore);
  }
};
Prepared make_nd(const KernelInit& i) {
  return prepared(GatherNd{i.attr<std::string>("bad_indices_policy") == "IGNORE", false});
}
Prepared make_resource_nd(const KernelInit&) { return prepared(GatherNd{false, true}); }

}  // namespace

std::vector<KernelRow> gather_kernels() {
  return {row("Gather", stateless<gather_v1>),  row("GatherV2", make_v2),
          row("ResourceGather", make_resource), row("GatherNd", make_nd),
          row("ResourceGatherNd", make_resource_nd)};
}

}  // namespace emplace::cpu
