// Tensors given by places, chosen rows by segments: device/sparse.cuh.
#include <fmt/format.h>

#include <cmath>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

std::string type_of(DType t) { return std::string(device_type(t)); }

// Sums in the type that numbers are computed in: the output itself, or scratch that is narrowed after.
struct Sums {
  Gpu* gpu;
  CUfunction narrow = nullptr;  // null: the output's own type
  Sums(const KernelInit& init, DType t) : gpu(&gpu_of(*init.device)) {
    if (t == DType::kHalf || t == DType::kBfloat16)
      narrow = gpu->jit().get("sparse", fmt::format("narrowed_sums<{}>", device_type(t)));
  }
  void* start(Tensor& out) const {
    const size_t bytes = narrow ? static_cast<size_t>(out.num_elements()) * sizeof(float) : out.bytes();
    void* const sums = narrow ? gpu->workspace(bytes) : out.raw();
    gpu->zero(sums, bytes);
    return sums;
  }
  void finish(Tensor& out, const void* sums) const {
    if (const int64_t n = out.num_elements(); narrow && n > 0)
      launch_kernel(*gpu, narrow, grid_for(*gpu, n), out.raw(), sums, n);
  }
};

// (indices, values, shape, b)
struct Product {
  Sums sums;
  CUfunction f;
  bool adjoint_a, adjoint_b;
  void operator()(KernelContext& c) const {
    const Tensor &indices = c.input(0), &values = c.input(1), &b = c.input(3);
    const auto shape = host_ints(c.input(2));
    if (shape.size() != 2) throw invalid_argument("Tensor 'a_shape' must have 2 elements");
    if (b.rank() != 2) throw invalid_argument("Tensor 'b' is not a matrix");
    if (indices.rank() != 2 || indices.dim(1) != 2 || indices.dim(0) != values.num_elements())
      throw invalid_argument("Tensor 'a_indices' must be a matrix with a row for each value");
    const int64_t rows = shape[adjoint_a ? 1 : 0], inner = shape[adjoint_a ? 0 : 1];
    const int64_t columns = b.dim(adjoint_b ? 0 : 1);
    if (b.dim(adjoint_b ? 1 : 0) != inner)
      throw invalid_argument(fmt::format("Cannot multiply A and B because inner dimension does not match: {} vs. {}",
                                         inner, b.dim(adjoint_b ? 1 : 0)));
    Tensor& out = c.output(0, Shape{rows, columns});
    if (out.num_elements() == 0) return;
    void* const to = sums.start(out);
    if (const int64_t n = values.num_elements() * columns)
      launch_kernel(*sums.gpu, f, grid_for(*sums.gpu, n), to, indices.raw(), values.raw(), b.raw(), n,
                    rows, inner, columns, adjoint_a, adjoint_b);
    sums.finish(out, to);
  }
};
Prepared make_product(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType t = init.input_types[1];
  return prepared(Product{Sums(init, t),
                          gpu.jit().get("sparse", fmt::format("sparse_product<{}, {}>", device_type(t),
                                                              device_type(init.input_types[0]))),
                          init.attr<bool>("adjoint_a"), init.attr<bool>("adjoint_b")});
}

// (indices, shape, values, default): the last in host memory.
struct ToDense {
  Gpu* gpu;
  CUfunction put;
  void operator()(KernelContext& c) const {
    const Tensor &indices = c.input(0), &values = c.input(2), &rest = c.input(3);
    const Shape shape(host_ints(c.input(1)));
    if (indices.rank() > 2)
      throw invalid_argument("sparse_indices should be a scalar, vector, or matrix, got shape " +
                             indices.shape().str());
    const int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
    const int64_t depth = indices.rank() > 1 ? indices.dim(1) : 1;
    if (shape.rank() != depth)
      throw invalid_argument(fmt::format("output_shape has incorrect number of elements: {} should be: {}",
                                         shape.rank(), depth));
    if (values.rank() > 1 || (values.rank() == 1 && values.num_elements() != count))
      throw invalid_argument(fmt::format("sparse_values has incorrect shape {}, should be [] or [{}]",
                                         values.shape().str(), count));
    if (rest.num_elements() != 1) throw invalid_argument("default_value should be a scalar.");
    if (depth > 8) throw unimplemented("more than 8 dimensions");
    Tensor& out = c.output(0, shape);
    if (out.num_elements() == 0) return;
    fill_from_host(*gpu, out, rest.raw());
    Steps s;
    for (int d = static_cast<int>(depth) - 1; d >= 0; --d) {
      s.dims[d] = shape[d];
      s.strides[d] = d + 1 < depth ? s.strides[d + 1] * shape[d + 1] : 1;
    }
    if (count > 0)
      launch_kernel(*gpu, put, grid_for(*gpu, count), out.raw(), indices.raw(), values.raw(), count,
                    int64_t{1}, static_cast<int32_t>(depth), s, int64_t{values.rank() > 0 ? 1 : 0});
  }
};
Prepared make_to_dense(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(ToDense{
      &gpu, gpu.jit().get("arrange", fmt::format("scatter<Put, {}, {}>", device_bits(init.input_types[2]),
                                                 device_type(init.input_types[0])))});
}

// ---- Chosen rows by segments.

int how_of(const std::string& op) {
  return op.find("SqrtN") != std::string::npos ? 2 : op.find("Mean") != std::string::npos ? 1 : 0;
}
std::string segment_types(const KernelInit& init) {
  return fmt::format("{}, {}, {}, {}", type_of(init.input_types[0]), type_of(init.input_types[1]),
                     type_of(init.input_types[2]), how_of(init.op->name));
}
void check_places(const Tensor& indices, const Tensor& ids) {
  if (indices.rank() != 1) throw invalid_argument("indices should be a vector.");
  if (ids.rank() != 1) throw invalid_argument("segment_ids should be a vector.");
  if (indices.num_elements() != ids.num_elements())
    throw invalid_argument("segment_ids and indices should have same size.");
}

// (data, indices, segment ids[, number of segments])
struct Segments {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &data = c.input(0), &indices = c.input(1), &ids = c.input(2);
    check_places(indices, ids);
    if (data.rank() < 1) throw invalid_argument("the input must be at least 1 dimensional");
    const int64_t places = ids.num_elements();
    int64_t segments = 0;
    if (c.num_inputs() > 3) {
      segments = host_ints(c.input(3)).at(0);
      if (segments < 0) throw invalid_argument("num_segments must be non-negative");
    } else if (places > 0) {
      const size_t size = dtype_size(ids.dtype());
      const void* const last = ids.data<char>() + static_cast<size_t>(places - 1) * size;
      segments = 1 + (size == 4 ? int64_t{read_number<int32_t>(*gpu, last)} : read_number<int64_t>(*gpu, last));
      if (segments < 1) throw invalid_argument("segment ids must be >= 0");
    }
    Shape shape = data.shape();
    shape.set_dim(0, segments);
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), data.raw(), indices.raw(), ids.raw(), n,
                    places, data.dim(0), n / segments);
  }
};
Prepared make_segments(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Segments{&gpu, gpu.jit().get("sparse", fmt::format("segment_rows<{}>", segment_types(init)))});
}

// (gradient, indices, segment ids, rows)
struct SegmentsGradient {
  Sums sums;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &grad = c.input(0), &indices = c.input(1), &ids = c.input(2);
    check_places(indices, ids);
    const int64_t rows = host_ints(c.input(3)).at(0), places = ids.num_elements();
    if (rows < 0) throw invalid_argument("output_dim0 must be non-negative");
    if (grad.rank() < 1) throw invalid_argument("the input must be at least 1 dimensional");
    Shape shape = grad.shape();
    shape.set_dim(0, rows);
    Tensor& out = c.output(0, shape);
    if (out.num_elements() == 0) return;
    void* const to = sums.start(out);
    const int64_t inner = out.num_elements() / rows;
    if (const int64_t n = places * inner)
      launch_kernel(*sums.gpu, f, grid_for(*sums.gpu, n), to, grad.raw(), indices.raw(), ids.raw(), n,
                    places, grad.dim(0), rows, inner);
    sums.finish(out, to);
  }
};
Prepared make_segments_gradient(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(SegmentsGradient{
      Sums(init, init.input_types[0]),
      gpu.jit().get("sparse", fmt::format("segment_rows_grad<{}>", segment_types(init)))});
}

// ---- Few bits.

// Must look as device/sparse.cuh's does.
struct QuantSteps {
  float low = 0, high = 0, scale = 0;
  int32_t flat = 0;
  QuantSteps(float min, float max, int bits, bool narrow) {
    const float first = narrow ? 1.0f : 0.0f, last = static_cast<float>((int64_t{1} << bits) - 1);
    scale = (max - min) / (last - first);
    const float zero = first - min / scale;
    const float nudged = zero < first ? first : zero > last ? last : std::round(zero);
    low = (first - nudged) * scale;
    high = (last - nudged) * scale;
    flat = min == 0 && max == 0;
  }
};

// The range: attributes, or one in host memory for all, or for each channel.
struct FakeQuant {
  Gpu* gpu;
  CUfunction f, floats;
  int bits;
  bool narrow, gradient, channels, given;
  float min = 0, max = 0;

  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(gradient ? 1 : 0);
    if (gradient && !(c.input(0).shape() == x.shape()))
      throw invalid_argument("gradient and input must be the same size");
    const int64_t count = channels && x.rank() > 0 ? x.dim(x.rank() - 1) : 1, n = x.num_elements();
    std::vector<QuantSteps> steps;
    if (!given) {
      steps.emplace_back(min, max, bits, narrow);
    } else {
      const Tensor &low = c.input(gradient ? 2 : 1), &high = c.input(gradient ? 3 : 2);
      if (low.num_elements() != count || high.num_elements() != count)
        throw invalid_argument(fmt::format("min and max have incorrect size, expected {} was {} and {}", count,
                                           low.num_elements(), high.num_elements()));
      for (int64_t k = 0; k < count; ++k)
        steps.emplace_back(low.data<float>()[k], high.data<float>()[k], bits, narrow);
    }
    Tensor& out = c.output(0, x.shape());
    const size_t bytes = (steps.size() * sizeof(QuantSteps) + 15) / 16 * 16;
    const auto sums = static_cast<size_t>(2 * count) * sizeof(double);
    char* const work = static_cast<char*>(gpu->workspace(bytes + sums));
    check(cudaMemcpyAsync(work, steps.data(), steps.size() * sizeof(QuantSteps), cudaMemcpyHostToDevice,
                          gpu->stream()), "copying");
    if (!gradient) {
      if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), work, n, count);
      return;
    }
    char* const both = given ? work + bytes : nullptr;
    if (given) gpu->zero(both, sums);
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), both, c.input(0).raw(), x.raw(), work, n, count);
    if (!given) return;
    const Shape one = channels ? Shape{count} : Shape{};
    for (int k = 0; k < 2; ++k)
      launch_kernel(*gpu, floats, grid_for(*gpu, count), c.output(k + 1, one).raw(),
                    both + static_cast<size_t>(k * count) * sizeof(double), count);
  }
};
Prepared make_fake_quant(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string& op = init.op->name;
  const bool gradient = op.ends_with("Gradient");
  FakeQuant q{&gpu, gpu.jit().get("sparse", gradient ? "fake_quant_grad" : "fake_quant"),
              gpu.jit().get("sparse", "to_floats"), static_cast<int>(init.attr<int64_t>("num_bits")),
              init.attr<bool>("narrow_range"), gradient, op.find("PerChannel") != std::string::npos,
              op.find("Vars") != std::string::npos};
  if (q.bits < 2 || q.bits > 16)
    throw invalid_argument(fmt::format("num_bits must be between 2 and 16, inclusive, not {}", q.bits));
  if (!q.given) {
    q.min = init.attr<float>("min");
    q.max = init.attr<float>("max");
    if (!(q.min < q.max))
      throw invalid_argument(fmt::format("min has to be smaller than max, was: {} >= {}", q.min, q.max));
  }
  return prepared(std::move(q));
}

struct AndBack {
  Gpu* gpu;
  CUfunction measure, round;
  int32_t flags;  // signed, narrow, half up, range given
  int64_t bits, axis;
  bool bits_input;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const int64_t width = bits_input ? host_ints(c.input(3)).at(0) : bits;
    if (width < 1 || width > 62)
      throw invalid_argument(fmt::format("num_bits is out of range: {} with signed_input_ {}", width, flags & 1));
    if (axis < -1 || axis >= x.rank())
      throw invalid_argument(fmt::format("Axis should be at least -1 and less than {}, not {}", x.rank(), axis));
    Tensor& out = c.output(0, x.shape());
    const int64_t n = x.num_elements();
    if (n == 0) return;
    const int64_t channels = axis < 0 ? 1 : x.dim(static_cast<int>(axis));
    int64_t inner = axis < 0 ? n : 1;
    for (int d = static_cast<int>(axis) + 1; axis >= 0 && d < x.rank(); ++d) inner *= x.dim(d);
    const bool given = flags & 8;
    const size_t size = dtype_size(x.dtype());
    char* const ranges = static_cast<char*>(gpu->workspace(static_cast<size_t>(2 * channels) * size));
    if (given) {
      for (int k : {1, 2}) {
        if (c.input(k).num_elements() != channels)
          throw invalid_argument("input_min and input_max must have a number for each channel");
        check(cudaMemcpyAsync(ranges + static_cast<size_t>((k - 1) * channels) * size, c.input(k).raw(),
                              c.input(k).bytes(), cudaMemcpyHostToDevice, gpu->stream()), "copying");
      }
    } else {
      Grid g;
      g.x = static_cast<unsigned>(channels);
      launch_kernel(*gpu, measure, g, ranges, x.raw(), n / (channels * inner), channels, inner);
    }
    const auto steps = static_cast<double>(int64_t{1} << (width - (flags & 1)));
    launch_kernel(*gpu, round, grid_for(*gpu, n), out.raw(), x.raw(), ranges, n, channels, inner, steps, flags);
  }
};
Prepared make_and_back(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool bits_input = init.op->name == "QuantizeAndDequantizeV3";
  const bool half_up = !bits_input && init.attr<std::string>("round_mode") == "HALF_UP";
  const std::string t = type_of(init.type("T"));
  return prepared(AndBack{&gpu, gpu.jit().get("sparse", fmt::format("channel_ranges<{}>", t)),
                          gpu.jit().get("sparse", fmt::format("there_and_back<{}>", t)),
                          init.attr<bool>("signed_input") * 1 + init.attr<bool>("narrow_range") * 2 +
                              half_up * 4 + init.attr<bool>("range_given") * 8,
                          bits_input ? 0 : init.attr<int64_t>("num_bits"), init.attr<int64_t>("axis"),
                          bits_input});
}

}  // namespace

std::vector<KernelRow> sparse_kernels() {
  std::vector<DType> types = kFloats;
  types.insert(types.end(), kComplexes.begin(), kComplexes.end());
  const TypeConstraint floats{"T", kFloats};
  std::vector<KernelRow> rows = {cuda_row("SparseTensorDenseMatMul", make_product, {{"T", types}}),
                                 cuda_row("SparseToDense", make_to_dense)};
  for (const char* how : {"Sum", "Mean", "SqrtN"}) {
    const std::string op = std::string("SparseSegment") + how;
    rows.push_back(cuda_row(op + "WithNumSegments", make_segments, {floats}));
    rows.push_back(cuda_row(op + "Grad", make_segments_gradient, {floats}));
    rows.push_back(cuda_row(op, make_segments, {floats}));
    rows.back().traits.replays = false;  // it waits for the card
  }
  for (const char* op : {"FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgsGradient",
                         "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsGradient",
                         "FakeQuantWithMinMaxVarsPerChannel", "FakeQuantWithMinMaxVarsPerChannelGradient"})
    rows.push_back(cuda_row(op, make_fake_quant));
  for (const char* op : {"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"})
    rows.push_back(cuda_row(op, make_and_back, {{"T", {DType::kFloat, DType::kDouble}}}));
  for (KernelRow& row : rows)  // ranges are copied from the host's memory in each call
    if (row.op.find("Quant") != std::string::npos) row.traits.replays = false;
  return rows;
}

}  // namespace emplace::cuda
