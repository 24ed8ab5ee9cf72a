// Tensors given by places, chosen rows by segments: device/sparse.cuh.
#include <fmt/format.h>

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
    const size_t bytes =
        narrow ? static_cast<size_t>(out.num_elements()) * sizeof(float) : out.bytes();
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
      throw invalid_argument(
          fmt::format("Cannot multiply A and B because inner dimension does not match: {} vs. {}",
                      inner, b.dim(adjoint_b ? 1 : 0)));
    Tensor& out = c.output(0, Shape{rows, columns});
    if (out.num_elements() == 0) return;
    void* const to = sums.start(out);
    if (const int64_t n = values.num_elements() * columns)
      launch_kernel(*sums.gpu, f, grid_for(*sums.gpu, n), to, indices.raw(), values.raw(), b.raw(),
                    n, rows, inner, columns, adjoint_a, adjoint_b);
    sums.finish(out, to);
  }
};
Prepared make_product(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType t = init.input_types[1];
  return prepared(
      Product{Sums(init, t),
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
      throw invalid_argument(fmt::format(
          "output_shape has incorrect number of elements: {} should be: {}", shape.rank(), depth));
    if (values.rank() > 1 || (values.rank() == 1 && values.num_elements() != count))
      throw invalid_argument(
          fmt::format("sparse_values has incorrect shape {}, should be [] or [{}]",
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
      &gpu,
      gpu.jit().get("arrange", fmt::format("scatter<Put, {}, {}>", device_bits(init.input_types[2]),
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
    if (c.num_inputs() > 3) {
      const int64_t segments = host_ints(c.input(3)).at(0);
      if (segments < 0) throw invalid_argument("num_segments must be non-negative");
      return sum_up(c, segments);
    }
    if (places == 0) return sum_up(c, 0);
    const size_t last = static_cast<size_t>(places - 1) * dtype_size(ids.dtype());
    read_index_then(c, *gpu, ids.dtype(), ids.data<char>() + last,
                    [this](KernelContext& c, int64_t id) {
                      if (id < 0) throw invalid_argument("segment ids must be >= 0");
                      sum_up(c, id + 1);
                    });
  }
  void sum_up(KernelContext& c, int64_t segments) const {
    const Tensor &data = c.input(0), &indices = c.input(1), &ids = c.input(2);
    Shape shape = data.shape();
    shape.set_dim(0, segments);
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), data.raw(), indices.raw(), ids.raw(), n,
                    ids.num_elements(), data.dim(0), n / segments);
  }
};
Prepared make_segments(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Segments{
      &gpu, gpu.jit().get("sparse", fmt::format("segment_rows<{}>", segment_types(init)))});
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
      launch_kernel(*sums.gpu, f, grid_for(*sums.gpu, n), to, grad.raw(), indices.raw(), ids.raw(),
                    n, places, grad.dim(0), rows, inner, nullptr, int64_t{0});
    sums.finish(out, to);
  }
};
Prepared make_segments_gradient(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(SegmentsGradient{
      Sums(init, init.input_types[0]),
      gpu.jit().get("sparse", fmt::format("segment_rows_grad<{}>", segment_types(init)))});
}

// … of which only the rows that were taken, and their numbers in order.
struct CompactGradient {
  Sums sums;
  CUfunction f, mark, count, add_up, write;

  void operator()(KernelContext& c) const {
    const Tensor &grad = c.input(0), &indices = c.input(1), &ids = c.input(2);
    check_places(indices, ids);
    const int64_t rows = host_ints(c.input(3)).at(0), places = ids.num_elements();
    if (rows < 0) throw invalid_argument("dense_output_dim0 must be non-negative");
    if (grad.rank() < 1) throw invalid_argument("the input must be at least 1 dimensional");
    if (places == 0 || rows == 0) return finish(c, nullptr, 0, 0);
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    const BufferPtr memory =
        scratch(*sums.gpu, static_cast<size_t>(blocks + 1) * sizeof(int64_t) +
                               static_cast<size_t>(rows));
    auto* const counts = static_cast<int64_t*>(memory->data());
    void* const marks = counts + blocks + 1;
    sums.gpu->zero(marks, static_cast<size_t>(rows));
    launch_kernel(*sums.gpu, mark, grid_for(*sums.gpu, places), marks, indices.raw(), places, rows);
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    launch_kernel(*sums.gpu, count, g, counts, marks, rows);
    launch_kernel(*sums.gpu, add_up, Grid{}, counts, blocks);
    read_number_then<int64_t>(c, *sums.gpu, counts + blocks,
                              [this, memory, rows](KernelContext& c, int64_t found) {
                                finish(c, memory->data(), rows, found);
                              });
  }

 private:
  static constexpr int64_t kBlock = 1024;  // device/dynamic.cuh's WHERE_BLOCK

  void finish(KernelContext& c, void* memory, int64_t rows, int64_t found) const {
    const Tensor &grad = c.input(0), &indices = c.input(1), &ids = c.input(2);
    Shape shape = grad.shape();
    shape.set_dim(0, found);
    Tensor &out = c.output(0, shape), &which = c.output(1, Shape{found});
    if (found == 0) return;
    const int64_t blocks = (rows + kBlock - 1) / kBlock, places = ids.num_elements();
    auto* const counts = static_cast<int64_t*>(memory);
    Strides s;
    s.rank = 1;
    s.dims[0] = static_cast<uint32_t>(rows);
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    g.block_x = kBlock;
    launch_kernel(*sums.gpu, write, g, which.raw(), counts,
                  static_cast<const void*>(counts + blocks + 1), rows, s);
    if (out.num_elements() == 0) return;
    void* const to = sums.start(out);
    const int64_t inner = out.num_elements() / found, n = places * inner;
    launch_kernel(*sums.gpu, f, grid_for(*sums.gpu, n), to, grad.raw(), indices.raw(), ids.raw(), n,
                  places, grad.dim(0), rows, inner, which.raw(), found);
    sums.finish(out, to);
  }
};
Prepared make_compact_gradient(const KernelInit& init) {
  Jit& jit = gpu_of(*init.device).jit();
  const std::string index = type_of(init.input_types[1]);
  return prepared(CompactGradient{
      Sums(init, init.input_types[0]),
      jit.get("sparse", fmt::format("segment_rows_grad<{}>", segment_types(init))),
      jit.get("sparse", fmt::format("mark_rows<{}>", index)), jit.get("dynamic", "where_count<u8>"),
      jit.get("dynamic", "where_sum"), jit.get("dynamic", fmt::format("where_write<u8, {}>", index))});
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
    for (auto [name, make] : {std::pair{op, &make_segments}, {op + "GradV2", &make_compact_gradient}}) {
      rows.push_back(cuda_row(name, make, {floats}));
      rows.back().traits.replays = false;  // what it launches depends on the data
    }
  }
  return rows;
}

}  // namespace emplace::cuda
