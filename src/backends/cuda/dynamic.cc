// Results whose size the data decide: device/dynamic.cuh. The host has to know that size before it can
// give the result memory, so these calls wait for the card.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

constexpr int64_t kWhereBlock = 1024;  // device/dynamic.cuh's WHERE_BLOCK

// A number that lies on the card.
template <class T>
T read_number(Gpu& gpu, const void* from) {
  T value{};
  const cudaStream_t stream = gpu.stream();
  check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream), "copying");
  check(cudaStreamSynchronize(stream), "waiting for a size");
  return value;
}

struct Where {
  Gpu* gpu;
  CUfunction count, sum, write;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() > 8) throw unimplemented("more than 8 dimensions");
    const int64_t n = x.num_elements(), blocks = (n + kWhereBlock - 1) / kWhereBlock;
    int64_t found = 0;
    auto* const counts = static_cast<int64_t*>(
        gpu->workspace(static_cast<size_t>(blocks + 1) * sizeof(int64_t)));
    if (n > 0) {
      Grid g;
      g.x = static_cast<unsigned>(blocks);
      launch_kernel(*gpu, count, g, counts, x.raw(), n);
      launch_kernel(*gpu, sum, Grid{}, counts, blocks);
      found = read_number<int64_t>(*gpu, counts + blocks);
    }
    Tensor& out = c.output(0, Shape{found, x.rank()});
    if (out.num_elements() == 0) return;
    Strides s;
    s.rank = x.rank();
    for (int d = 0; d < x.rank(); ++d) s.dims[d] = static_cast<uint32_t>(x.dim(d));
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    g.block_x = kWhereBlock;
    launch_kernel(*gpu, write, g, out.raw(), counts, x.raw(), n, s);
  }
};
Prepared make_where(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.input_types[0]);
  return prepared(Where{&gpu, gpu.jit().get("dynamic", fmt::format("where_count<{}>", t)),
                        gpu.jit().get("dynamic", "where_sum"),
                        gpu.jit().get("dynamic", fmt::format("where_write<{}>", t))});
}

struct Segments {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &ids = c.input(1);
    if (ids.rank() != 1) throw invalid_argument("segment_ids should be a vector.");
    const int64_t rows = ids.num_elements();
    if (x.rank() < 1 || x.dim(0) != rows)
      throw invalid_argument("segment_ids should be the same size as dimension 0 of input.");
    int64_t count = 0;
    if (rows > 0) {
      const size_t size = dtype_size(ids.dtype());
      const void* last = ids.data<char>() + static_cast<size_t>(rows - 1) * size;
      count = 1 + (size == 4 ? int64_t{read_number<int32_t>(*gpu, last)}
                             : read_number<int64_t>(*gpu, last));
      if (count < 1) throw invalid_argument("segment ids must be >= 0");
    }
    Shape shape = x.shape();
    shape.set_dim(0, count);
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), ids.raw(), n, rows, n / count);
  }
};
Prepared make_segments(const KernelInit& init) {
  static constexpr std::string_view kHow[] = {"Sum", "Mean", "Prod", "Max", "Min"};
  Gpu& gpu = gpu_of(*init.device);
  int how = 0;
  while (!init.op->name.ends_with(kHow[how])) ++how;
  return prepared(Segments{
      &gpu, gpu.jit().get("dynamic", fmt::format("segments<{}, {}, {}>",
                                                 device_type(init.input_types[0]),
                                                 device_type(init.input_types[1]), how))});
}

}  // namespace

std::vector<KernelRow> dynamic_kernels() {
  std::vector<DType> types = number_types();
  types.push_back(DType::kBool);
  std::vector<KernelRow> rows = {cuda_row("Where", make_where, {{"T", types}})};
  for (const char* how : {"Sum", "Mean", "Prod", "Max", "Min"})
    rows.push_back(cuda_row(std::string("Segment") + how, make_segments, {{"T", real_types()}}));
  for (KernelRow& row : rows) row.traits.replays = false;  // they wait for the card
  return rows;
}

}  // namespace emplace::cuda
