// By index: gathers, scatters, one-hot; device/arrange.cuh.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

int64_t product(const Tensor& t, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= t.dim(d);
  return n;
}

struct Gather {
  Gpu* gpu;
  CUfunction f;
  int batch_dims;
  bool from_variable;

  void operator()(KernelContext& c) const {
    if (from_variable) return run(c, c.variable(0).read(), 0);
    run(c, c.input(0), c.num_inputs() > 2 ? host_ints(c.input(2)).at(0) : 0);
  }
  void run(KernelContext& c, const Tensor& x, int64_t axis) const {
    const Tensor& indices = c.input(1);
    const int rank = x.rank();
    int batch = batch_dims < 0 ? batch_dims + indices.rank() : batch_dims;
    if (from_variable && batch > 0) axis = batch;
    if (axis < -rank || axis >= rank)
      throw invalid_argument(fmt::format("Expected axis in the range [{}, {}), but got {}", -rank,
                                         rank, axis));
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (batch > at || batch > indices.rank())
      throw invalid_argument(fmt::format("batch_dims ({}) must be less than or equal to axis ({})",
                                         batch, at));
    std::vector<int64_t> dims;
    for (int d = 0; d < at; ++d) dims.push_back(x.dim(d));
    for (int d = batch; d < indices.rank(); ++d) dims.push_back(indices.dim(d));
    for (int d = at + 1; d < rank; ++d) dims.push_back(x.dim(d));
    Tensor& out = c.output(0, Shape(dims));
    const int64_t n = out.num_elements();
    if (n == 0) return;
    const int64_t count = product(indices, batch, indices.rank());
    launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), indices.raw(), n, x.dim(at),
                  count, product(x, at + 1, rank), product(x, batch, at));
  }
};
Prepared make_gather(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const AttrValue* batch = init.find("batch_dims");
  return prepared(Gather{
      &gpu,
      gpu.jit().get("arrange", fmt::format("gather<{}, {}>", device_bits(init.output_types[0]),
                                           device_type(init.input_types[1]))),
      batch ? static_cast<int>(batch->as<int64_t>()) : 0, init.op->name == "ResourceGather"});
}

Steps steps_of(const Shape& shape, int depth) {
  Steps s;
  if (depth > 8) throw unimplemented("indices of more than 8 parts");
  for (int d = 0; d < depth; ++d) {
    s.dims[d] = shape[d];
    s.strides[d] = 1;
    for (int e = d + 1; e < shape.rank(); ++e) s.strides[d] *= shape[e];
  }
  return s;
}

struct GatherNd {
  Gpu* gpu;
  CUfunction f;
  bool from_variable;
  void operator()(KernelContext& c) const {
    run(c, from_variable ? c.variable(0).read() : c.input(0));
  }
  void run(KernelContext& c, const Tensor& x) const {
    const Tensor& indices = c.input(1);
    if (indices.rank() < 1) throw invalid_argument("indices must be at least a vector");
    const auto depth = static_cast<int32_t>(indices.dim(indices.rank() - 1));
    if (depth > x.rank())
      throw invalid_argument(fmt::format(
          "index innermost dimension length must be <= params rank; saw: {} vs. {}", depth,
          x.rank()));
    std::vector<int64_t> dims;
    for (int d = 0; d + 1 < indices.rank(); ++d) dims.push_back(indices.dim(d));
    for (int d = depth; d < x.rank(); ++d) dims.push_back(x.dim(d));
    Tensor& out = c.output(0, Shape(dims));
    const int64_t n = out.num_elements();
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), indices.raw(), n,
                    product(x, depth, x.rank()), depth, steps_of(x.shape(), depth));
  }
};
Prepared make_gather_nd(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(GatherNd{
      &gpu,
      gpu.jit().get("arrange", fmt::format("gather_nd<{}, {}>", device_bits(init.output_types[0]),
                                           device_type(init.input_types[1]))),
      init.op->name == "ResourceGatherNd"});
}

struct OneHot {
  Gpu* gpu;
  CUfunction f;
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor& indices = c.input(0);
    const int64_t depth = host_ints(c.input(1)).at(0);
    if (depth < 0)
      throw invalid_argument(fmt::format("depth must be non-negative, got: {}", depth));
    const int at = static_cast<int>(axis < 0 ? axis + indices.rank() + 1 : axis);
    if (at < 0 || at > indices.rank())
      throw invalid_argument(fmt::format("Expected axis to be -1 or between [0, {}).  But "
                                         "received: {}", indices.rank() + 1, axis));
    std::vector<int64_t> dims(indices.shape().dims().begin(), indices.shape().dims().end());
    dims.insert(dims.begin() + at, depth);
    Tensor& out = c.output(0, Shape(dims));
    const int64_t n = out.num_elements();
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), indices.raw(), c.input(2).raw(),
                    c.input(3).raw(), n, depth, product(indices, at, indices.rank()));
  }
};
Prepared make_one_hot(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(OneHot{
      &gpu,
      gpu.jit().get("arrange", fmt::format("one_hot<{}, {}>", device_bits(init.output_types[0]),
                                           device_type(init.input_types[0]))),
      init.attr<int64_t>("axis")});
}

// ---- Scatters: rows of a variable, or of a fresh tensor.

struct Scatter {
  Gpu* gpu;
  CUfunction f;
  void run(Tensor& to, const Tensor& indices, const Tensor& values, int32_t depth) const {
    const int64_t inner = product(to, depth, to.rank());
    const int64_t count = depth ? indices.num_elements() / depth : 1;
    const int64_t n = count * inner;
    if (n == 0) return;
    const bool one = values.num_elements() == 1 && n > 1;
    if (!one && values.num_elements() != n)
      throw invalid_argument(
          fmt::format("Must have updates.shape = indices.shape + params.shape[1:]"
                      ", got updates.shape {}, indices.shape {}, params.shape "
                      "{}",
                      values.shape().str(), indices.shape().str(), to.shape().str()));
    launch_kernel(*gpu, f, grid_for(*gpu, n), to.raw(), indices.raw(), values.raw(), n, inner,
                  depth, steps_of(to.shape(), depth), one ? int64_t{0} : inner);
  }
};

Scatter scatter_of(const KernelInit& init, const char* how, DType t, DType index) {
  Gpu& gpu = gpu_of(*init.device);
  if (t == DType::kBool) how = "Put";  // the sum of bools is whether one is set
  return {&gpu, gpu.jit().get("arrange", fmt::format("scatter<{}, {}, {}>", how, device_type(t),
                                                     device_type(index)))};
}

struct ScatterVariable {
  Scatter scatter;
  bool is_ref, nd;
  void operator()(KernelContext& c) const {
    const Tensor& indices = c.input(1);
    const int64_t depth = nd && indices.rank() > 0 ? indices.dim(indices.rank() - 1) : 1;
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (depth > t.rank()) throw invalid_argument("indices are deeper than the variable's shape");
      scatter.run(t, indices, c.input(2), static_cast<int32_t>(depth));
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};
const char* how(const std::string& op) {
  static constexpr std::pair<const char*, const char*> kWays[] = {
      {"Add", "AddTo"}, {"Sub", "SubFrom"}, {"Max", "MaxTo"},
      {"Min", "MinTo"}, {"Mul", "MulTo"},   {"Div", "DivTo"}};
  for (const auto& [word, way] : kWays)
    if (op.find(word) != std::string::npos) return way;
  return "Put";
}
Prepared make_scatter_variable(const KernelInit& init) {
  return prepared(ScatterVariable{
      scatter_of(init, how(init.op->name), init.input_types[2], init.input_types[1]),
      init.op->name.rfind("Resource", 0) != 0,
      init.op->name.find("Nd") != std::string::npos});
}

struct ScatterNd {
  Scatter scatter;
  void operator()(KernelContext& c) const {
    const Tensor& indices = c.input(0);
    Tensor& out = c.output(0, Shape(host_ints(c.input(2))));
    if (out.bytes() > 0)
      check(cudaMemsetAsync(out.raw(), 0, out.bytes(), scatter.gpu->stream()), "filling");
    const int64_t depth = indices.rank() ? indices.dim(indices.rank() - 1) : 1;
    if (depth > out.rank()) throw invalid_argument("indices are deeper than the output's shape");
    scatter.run(out, indices, c.input(1), static_cast<int32_t>(depth));
  }
};
Prepared make_scatter_nd(const KernelInit& init) {
  return prepared(ScatterNd{scatter_of(init, "AddTo", init.input_types[1], init.input_types[0])});
}

struct TensorScatter {
  Scatter scatter;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &indices = c.input(1);
    Tensor& out = c.output(0, x.shape());
    if (out.raw() != x.raw()) c.device().copy(out.raw(), x.raw(), x.bytes());
    const int64_t depth = indices.rank() ? indices.dim(indices.rank() - 1) : 1;
    if (depth > out.rank()) throw invalid_argument("indices are deeper than the tensor's shape");
    scatter.run(out, indices, c.input(2), static_cast<int32_t>(depth));
  }
};
Prepared make_tensor_scatter(const KernelInit& init) {
  return prepared(TensorScatter{
      scatter_of(init, how(init.op->name), init.input_types[2], init.input_types[1])});
}

// Rows that share a number, together; a negative number is left out.
struct Segments {
  Scatter scatter;
  std::string op;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &ids = c.input(1);
    const int64_t segments = host_ints(c.input(2)).at(0);
    if (segments < 0)
      throw invalid_argument(
          fmt::format("Input num_segments == {} must not be negative.", segments));
    std::vector<int64_t> dims{segments};
    for (int d = ids.rank(); d < x.rank(); ++d) dims.push_back(x.dim(d));
    Tensor& out = c.output(0, Shape(dims));
    start(out);
    scatter.run(out, ids, x, 1);
  }
  // What a segment without rows holds.
  void start(Tensor& out) const {
    if (out.bytes() == 0) return;
    if (op == "UnsortedSegmentSum")
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), scatter.gpu->stream()), "filling");
    const bool one = op == "UnsortedSegmentProd", low = op == "UnsortedSegmentMax";
    alignas(16) char value[16] = {};
    switch (out.dtype()) {
      case DType::kFloat: put(value, one ? 1.0f : low ? -std::numeric_limits<float>::max()
                                                       : std::numeric_limits<float>::max()); break;
      case DType::kDouble: put(value, one ? 1.0 : low ? -std::numeric_limits<double>::max()
                                                      : std::numeric_limits<double>::max()); break;
      case DType::kHalf:
        put(value, one ? uint16_t{0x3c00} : low ? uint16_t{0xfbff} : uint16_t{0x7bff});
        break;
      case DType::kBfloat16:
        put(value, one ? uint16_t{0x3f80} : low ? uint16_t{0xff7f} : uint16_t{0x7f7f});
        break;
      case DType::kInt8: whole<int8_t>(value, one, low); break;
      case DType::kInt16: whole<int16_t>(value, one, low); break;
      case DType::kInt32: whole<int32_t>(value, one, low); break;
      case DType::kInt64: whole<int64_t>(value, one, low); break;
      case DType::kUint8: whole<uint8_t>(value, one, low); break;
      case DType::kUint16: whole<uint16_t>(value, one, low); break;
      case DType::kUint32: whole<uint32_t>(value, one, low); break;
      case DType::kUint64: whole<uint64_t>(value, one, low); break;
      default: throw unimplemented("segments of this dtype on a card");
    }
    fill_from_host(*scatter.gpu, out, value);
  }
  template <class T>
  static void put(char* to, T value) { std::memcpy(to, &value, sizeof value); }
  template <class T>
  static void whole(char* to, bool one, bool low) {
    put<T>(to, one ? T{1} : low ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
  }
};
Prepared make_segments(const KernelInit& init) {
  const std::string& op = init.op->name;
  const char* way = op == "UnsortedSegmentMax"   ? "MaxTo"
                    : op == "UnsortedSegmentMin" ? "MinTo"
                    : op == "UnsortedSegmentProd" ? "MulTo"
                                                  : "AddTo";
  return prepared(Segments{scatter_of(init, way, init.input_types[0], init.input_types[1]), op});
}

}  // namespace

std::vector<KernelRow> index_kernels() {
  const std::vector<DType>&reals = real_types(), &numbers = number_types();
  std::vector<DType> moved = numbers;
  moved.push_back(DType::kBool);
  auto types = [&](std::string_view word) {
    return word == "Update" ? moved : word == "Add" || word == "Sub" ? numbers : reals;
  };
  std::vector<KernelRow> rows = {
      cuda_row("Gather", make_gather),
      cuda_row("GatherV2", make_gather),
      cuda_row("ResourceGather", make_gather),
      cuda_row("GatherNd", make_gather_nd),
      cuda_row("ResourceGatherNd", make_gather_nd),
      cuda_row("OneHot", make_one_hot),
      cuda_row("ScatterNd", make_scatter_nd, {{"T", moved}}),
      cuda_row("ScatterNdNonAliasingAdd", make_tensor_scatter, {{"T", moved}}),
      cuda_row("UnsortedSegmentSum", make_segments, {{"T", numbers}})};
  for (const char* op : {"UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"})
    rows.push_back(cuda_row(op, make_segments, {{"T", reals}}));
  for (const char* word : {"Add", "Sub", "Update", "Max", "Min", "Mul", "Div"}) {
    rows.push_back(
        cuda_row(std::string("Scatter") + word, make_scatter_variable, {{"T", types(word)}}));
    rows.push_back(cuda_row(std::string("ResourceScatter") + word, make_scatter_variable,
                            {{"dtype", types(word)}}));
  }
  for (const char* word : {"Add", "Sub", "Update", "Max", "Min"}) {
    rows.push_back(
        cuda_row(std::string("ScatterNd") + word, make_scatter_variable, {{"T", types(word)}}));
    rows.push_back(cuda_row(std::string("ResourceScatterNd") + word, make_scatter_variable,
                            {{"T", types(word)}}));
    rows.push_back(
        cuda_row(std::string("TensorScatter") + word, make_tensor_scatter, {{"T", types(word)}}));
  }
  return rows;
}

}  // namespace emplace::cuda
