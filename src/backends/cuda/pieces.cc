// Tensors made on the spot, and rows put in their places: device/arrange.cuh.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// ---- Ranges.

template <class T>
double as_double(const Tensor& t) {
  if constexpr (sizeof(T) == 2) return static_cast<double>(static_cast<float>(*t.data<T>()));
  else return static_cast<double>(*t.data<T>());
}
double host_float(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kHalf: return as_double<Half>(t);
    case DType::kBfloat16: return as_double<Bfloat16>(t);
    case DType::kFloat: return as_double<float>(t);
    default: return as_double<double>(t);
  }
}

template <class T>
void check_direction(T start, T limit, T delta) {
  if (delta == 0) throw invalid_argument("Requires delta != 0: 0");
  if (delta > 0 ? start > limit : start < limit)
    throw invalid_argument(delta > 0 ? "Requires start <= limit when delta > 0"
                                     : "Requires start >= limit when delta < 0");
}

struct Range {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    for (int i = 0; i < 3; ++i)
      if (c.input(i).num_elements() != 1 || c.input(i).rank() > 1)
        throw invalid_argument("start, limit and delta must be scalars, not shape " +
                               c.input(i).shape().str());
    if (c.input(0).dtype() == DType::kInt64) return whole(c);
    const double start = host_float(c.input(0)), limit = host_float(c.input(1)),
                 delta = host_float(c.input(2));
    check_direction(start, limit, delta);
    // The quotient in the tensor's own precision, which decides about the last element.
    const bool wide = c.input(0).dtype() == DType::kDouble;
    const double size =
        wide ? std::ceil(std::abs((limit - start) / delta))
             : std::ceil(std::abs((static_cast<float>(limit) - static_cast<float>(start)) /
                                  static_cast<float>(delta)));
    if (!(size < 9e18)) throw invalid_argument("Requires ((limit - start) / delta) <= INT64_MAX");
    Tensor& out = c.output(0, Shape{static_cast<int64_t>(size)});
    const int64_t n = out.num_elements();
    if (n == 0) return;
    if (wide)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, start, delta);
    else
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, static_cast<float>(start),
                    static_cast<float>(delta));
  }
  void whole(KernelContext& c) const {
    const int64_t start = *c.input(0).data<int64_t>(), limit = *c.input(1).data<int64_t>(),
                  delta = *c.input(2).data<int64_t>();
    check_direction(start, limit, delta);
    const auto away = [](int64_t a, int64_t b) {
      return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    };
    const uint64_t span = delta > 0 ? away(limit, start) : away(start, limit);
    const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : away(0, delta);
    const auto n = static_cast<int64_t>(
        std::min<uint64_t>(span / step + (span % step != 0), INT64_MAX));
    Tensor& out = c.output(0, Shape{n});
    if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, start, delta);
  }
};
Prepared make_range(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Range{
      &gpu,
      gpu.jit().get("arrange", fmt::format("range_of<{}>", device_type(init.output_types[0])))});
}

void empty(KernelContext& c) {
  Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
  gpu_of(c.device()).zero(out.raw(), out.bytes());
}

// ---- Rows.

// (x, rows, values)
struct ChangeRows {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &rows = c.input(1), &v = c.input(2);
    if (x.rank() < 1 || x.rank() != v.rank()) throw invalid_argument("x and v must have one rank");
    if (rows.rank() != 1) throw invalid_argument("i must be a vector");
    for (int i = 1; i < x.rank(); ++i)
      if (x.dim(i) != v.dim(i)) throw invalid_argument("shape mismatch of x and v");
    if (v.dim(0) != rows.dim(0)) throw invalid_argument("i and v must have one length");
    if (x.dim(0) == 0 && rows.dim(0) > 0) throw invalid_argument("there is no row to change");
    Tensor& out = c.output(0, x.shape());
    if (x.num_elements() == 0) return;
    if (out.raw() != x.raw()) c.device().copy(out.raw(), x.raw(), x.bytes());
    const int64_t inner = x.num_elements() / x.dim(0);
    launch_kernel(*gpu, f, grid_for(*gpu, inner), out.raw(), rows.raw(), v.raw(), rows.dim(0),
                  x.dim(0), inner);
  }
};
Prepared make_change_rows(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string& op = init.op->name;
  const int how = op == "InplaceUpdate" ? 0 : op == "InplaceAdd" ? 1 : 2;
  return prepared(ChangeRows{
      &gpu, gpu.jit().get("arrange", fmt::format("change_rows<{}, {}>",
                                                 device_type(init.input_types[0]), how))});
}

// (indices…, data…), indices in host memory: who writes a row last is known before anything moves.
void dynamic_stitch(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const int lists = c.num_inputs() / 2;
  std::vector<int64_t> to;  // of every row of every list
  Shape tail = Shape::unknown();
  for (int k = 0; k < lists; ++k) {
    const Tensor &indices = c.input(k), &data = c.input(lists + k);
    bool fits = indices.rank() <= data.rank();
    for (int i = 0; i < indices.rank() && fits; ++i) fits = data.dim(i) == indices.dim(i);
    if (!fits)
      throw invalid_argument(
          fmt::format("data[{0}].shape = {1} does not start with indices[{0}].shape = {2}", k,
                      data.shape().str(), indices.shape().str()));
    const Shape own(data.shape().dims().subspan(static_cast<size_t>(indices.rank())));
    if (tail.has_rank() && !(tail == own))
      throw invalid_argument("Need data[0].shape and the others' to agree behind the indices");
    tail = own;
    for (int64_t i : host_ints(indices)) {
      if (i < 0) throw invalid_argument(fmt::format("indices[{}] = {} is out of range", k, i));
      to.push_back(i);
    }
  }
  const int64_t rows = to.empty() ? 0 : *std::max_element(to.begin(), to.end()) + 1;
  Shape shape = tail;
  shape.insert(0, rows);
  Tensor& out = c.output(0, shape);
  if (out.num_elements() == 0) return;
  std::vector<bool> taken(static_cast<size_t>(rows), false);
  for (size_t i = to.size(); i-- > 0;) {  // a later row wins
    const auto at = static_cast<size_t>(to[i]);
    if (taken[at]) to[i] = -1;
    taken[at] = true;
  }
  gpu.zero(out.raw(), out.bytes());  // where no index points
  const int64_t inner = out.num_elements() / rows;
  auto* const places = static_cast<int64_t*>(gpu.workspace(to.size() * sizeof(int64_t)));
  check(cudaMemcpyAsync(places, to.data(), to.size() * sizeof(int64_t), cudaMemcpyHostToDevice,
                        gpu.stream()),
        "copying");
  const CUfunction f =
      gpu.jit().get("arrange", fmt::format("put_rows<{}>", device_bits(out.dtype())));
  int64_t first = 0;
  for (int k = 0; k < lists; ++k) {
    const int64_t n = c.input(k).num_elements() * inner;
    if (n > 0)
      launch_kernel(gpu, f, grid_for(gpu, n), out.raw(), c.input(lists + k).raw(), places + first,
                    n, inner);
    first += c.input(k).num_elements();
  }
}

// ---- The gradient of mirrored edges.

struct MirrorPadGrad {
  Gpu* gpu;
  CUfunction f;
  int32_t skip;
  void operator()(KernelContext& c) const {
    const Tensor& dy = c.input(0);
    const auto pads = host_ints(c.input(1));
    if (static_cast<int>(pads.size()) != 2 * dy.rank())
      throw invalid_argument("paddings must have a row for each dimension of " + dy.shape().str());
    if (dy.rank() > 8) throw unimplemented("more than 8 dimensions");
    Strides s;
    Steps before, extent;
    Shape shape = dy.shape();
    s.rank = dy.rank();
    int64_t step = 1;
    for (int d = dy.rank() - 1; d >= 0; --d) {
      before.dims[d] = pads[static_cast<size_t>(2 * d)];
      const int64_t size = dy.dim(d) - before.dims[d] - pads[static_cast<size_t>(2 * d + 1)];
      if (size < 0) throw invalid_argument("paddings are larger than the padded tensor");
      s.dims[d] = static_cast<uint32_t>(size);
      extent.dims[d] = dy.dim(d);
      extent.strides[d] = step;
      step *= dy.dim(d);
      shape.set_dim(d, size);
    }
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), dy.raw(), n, s, before, extent, skip);
  }
};
Prepared make_mirror_grad(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(MirrorPadGrad{
      &gpu,
      gpu.jit().get("arrange",
                    fmt::format("mirror_pad_grad<{}>", device_type(init.input_types[0]))),
      init.attr<std::string>("mode") == "REFLECT" ? 1 : 0});
}

}  // namespace

std::vector<KernelRow> piece_kernels() {
  std::vector<DType> moved = real_types();
  moved.push_back(DType::kBool);
  KernelRow stitch = cuda_row("DynamicStitch", stateless<dynamic_stitch>);
  stitch.traits.replays = false;  // where rows go is the host's to say
  std::vector<KernelRow> rows = {
      cuda_row("Range", make_range,
               {{"Tidx",
                 {DType::kHalf, DType::kBfloat16, DType::kFloat, DType::kDouble, DType::kInt64}}}),
      cuda_row("Empty", stateless<empty>),
      cuda_row("InplaceUpdate", make_change_rows, {{"T", moved}}),
      cuda_row("InplaceAdd", make_change_rows, {{"T", real_types()}}),
      cuda_row("InplaceSub", make_change_rows, {{"T", real_types()}}),
      cuda_row("MirrorPadGrad", make_mirror_grad, {{"T", kFloats}})};
  rows.push_back(std::move(stitch));
  return rows;
}

}  // namespace emplace::cuda
