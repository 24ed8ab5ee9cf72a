// Results whose size the data decide: device/dynamic.cuh. The host has to know that size before it can
// give the result memory, so these calls go on when the card has told it.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

constexpr int64_t kWhereBlock = 1024;  // device/dynamic.cuh's WHERE_BLOCK

struct Where {
  Gpu* gpu;
  CUfunction count, sum, write;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() > 8) throw unimplemented("more than 8 dimensions");
    const int64_t n = x.num_elements(), blocks = (n + kWhereBlock - 1) / kWhereBlock;
    if (n == 0) {
      c.output(0, Shape{0, x.rank()});
      return;
    }
    const BufferPtr memory = scratch(*gpu, static_cast<size_t>(blocks + 1) * sizeof(int64_t));
    auto* const counts = static_cast<int64_t*>(memory->data());
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    launch_kernel(*gpu, count, g, counts, x.raw(), n);
    launch_kernel(*gpu, sum, Grid{}, counts, blocks);
    read_number_then<int64_t>(c, *gpu, counts + blocks,
                              [this, memory, blocks](KernelContext& c, int64_t found) {
                                place(c, static_cast<int64_t*>(memory->data()), blocks, found);
                              });
  }
  void place(KernelContext& c, const int64_t* counts, int64_t blocks, int64_t found) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, Shape{found, x.rank()});
    if (out.num_elements() == 0) return;
    Strides s;
    s.rank = x.rank();
    for (int d = 0; d < x.rank(); ++d) s.dims[d] = static_cast<uint32_t>(x.dim(d));
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    g.block_x = kWhereBlock;
    launch_kernel(*gpu, write, g, out.raw(), counts, x.raw(), x.num_elements(), s);
  }
};
Prepared make_where(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.input_types[0]);
  return prepared(Where{&gpu, gpu.jit().get("dynamic", fmt::format("where_count<{}>", t)),
                        gpu.jit().get("dynamic", "where_sum"),
                        gpu.jit().get("dynamic", fmt::format("where_write<{}, i64>", t))});
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
    if (rows == 0) return sum_up(c, 0);
    const size_t last = static_cast<size_t>(rows - 1) * dtype_size(ids.dtype());
    read_index_then(c, *gpu, ids.dtype(), ids.data<char>() + last,
                    [this](KernelContext& c, int64_t id) {
                      if (id < 0) throw invalid_argument("segment ids must be >= 0");
                      sum_up(c, id + 1);
                    });
  }
  void sum_up(KernelContext& c, int64_t count) const {
    const Tensor &x = c.input(0), &ids = c.input(1);
    Shape shape = x.shape();
    shape.set_dim(0, count);
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), ids.raw(), n,
                    ids.num_elements(), n / count);
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

// ---- Rows by the number of their part.

// Rows in the order of their parts; `starts`: where each part begins in it, and the last one ends.
void take_parts(KernelContext& c, const int64_t* order, const int64_t* starts) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor &data = c.input(0), &which = c.input(1);
  int64_t inner = 1;
  for (int d = which.rank(); d < data.rank(); ++d) inner *= data.dim(d);
  const CUfunction take =
      gpu.jit().get("dynamic", fmt::format("take_rows<{}>", device_bits(data.dtype())));
  for (int p = 0; p < c.num_outputs(); ++p) {
    Shape shape{starts[p + 1] - starts[p]};
    for (int d = which.rank(); d < data.rank(); ++d) shape.push_back(data.dim(d));
    Tensor& out = c.output(p, shape);
    if (const int64_t count = out.num_elements())
      launch_kernel(gpu, take, grid_for(gpu, count), out.raw(), data.raw(), order + starts[p],
                    count, inner);
  }
}

void dynamic_partition(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor &data = c.input(0), &which = c.input(1);
  bool fits = which.rank() <= data.rank();
  for (int d = 0; d < which.rank() && fits; ++d) fits = data.dim(d) == which.dim(d);
  if (!fits)
    throw invalid_argument(
        fmt::format("data.shape must start with partitions.shape, got data.shape "
                    "= {}, partitions.shape = {}",
                    data.shape().str(), which.shape().str()));
  const int64_t n = which.num_elements(), parts = c.num_outputs();
  const int64_t blocks = (n + kWhereBlock - 1) / kWhereBlock, cells = parts * blocks;
  const auto ends = static_cast<size_t>(parts + 1);
  if (n == 0) return take_parts(c, nullptr, std::vector<int64_t>(ends, 0).data());
  const BufferPtr memory = scratch(
      gpu, (static_cast<size_t>(cells + 1 + n) + ends) * sizeof(int64_t));
  auto* const counts = static_cast<int64_t*>(memory->data());
  int64_t* const order = counts + cells + 1;
  check(cudaMemsetAsync(counts, 0, static_cast<size_t>(cells) * 8, gpu.stream()), "filling");
  launch_kernel(gpu, gpu.jit().get("dynamic", "part_count"), grid_for(gpu, n), counts, which.raw(),
                n, parts, blocks);
  launch_kernel(gpu, gpu.jit().get("dynamic", "where_sum"), Grid{}, counts, cells);
  Grid g;
  g.x = static_cast<unsigned>(blocks);
  g.block_x = kWhereBlock;
  launch_kernel(gpu, gpu.jit().get("dynamic", "part_place"), g, order, order + n, counts,
                which.raw(), n, parts, blocks);
  read_then(c, gpu, order + n, ends * sizeof(int64_t),
            [memory, order](KernelContext& c, const void* starts) {
              take_parts(c, order, static_cast<const int64_t*>(starts));
            });
}

// ---- Values without repeats.

struct Unique {
  Gpu* gpu;
  std::string type, index;
  bool counted;

  CUfunction get(const std::string& instance) const { return gpu->jit().get("dynamic", instance); }
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() != 1) throw invalid_argument("unique expects a 1D vector.");
    const int64_t n = x.num_elements();
    if (n == 0) {
      c.output(1, x.shape());
      c.output(0, Shape{0});
      if (counted) c.output(2, Shape{0});
      return;
    }
    const Work w(*gpu, n);
    check(cudaMemsetAsync(w.slots, 0xff, static_cast<size_t>(2 * w.size) * 8, gpu->stream()),
          "filling");
    launch_kernel(*gpu, get(fmt::format("unique_insert<{}>", type)), grid_for(*gpu, n), w.slots,
                  w.first, w.place, x.raw(), n, w.size);
    launch_kernel(*gpu, get("unique_flags"), grid_for(*gpu, n), w.flags, w.first, w.place, n);
    Grid g;
    g.x = static_cast<unsigned>(w.blocks);
    launch_kernel(*gpu, get("where_count<u8>"), g, w.counts, w.flags, n);
    launch_kernel(*gpu, get("where_sum"), Grid{}, w.counts, w.blocks);
    read_number_then<int64_t>(
        c, *gpu, w.counts + w.blocks,
        [this, w](KernelContext& c, int64_t found) { number(c, w, found); });
  }

 private:
  // Scratch memory for n values: a table of twice as many places, and what is known of each value.
  struct Work {
    int64_t blocks, size;
    BufferPtr memory;
    int64_t *slots, *first, *numbers, *place, *counts;
    void* flags;
    Work(Gpu& gpu, int64_t n) : blocks((n + kWhereBlock - 1) / kWhereBlock), size(2 * n) {
      const auto cells = static_cast<size_t>(3 * size + n + blocks + 1);
      memory = scratch(gpu, cells * sizeof(int64_t) + static_cast<size_t>(n));
      slots = static_cast<int64_t*>(memory->data());
      first = slots + size;
      numbers = first + size;
      place = numbers + size;
      counts = place + n;
      flags = counts + blocks + 1;
    }
  };
  void number(KernelContext& c, const Work& w, int64_t found) const {
    const Tensor& x = c.input(0);
    const int64_t n = x.num_elements();
    Tensor &values = c.output(0, Shape{found}), &indices = c.output(1, x.shape());
    Grid g;
    g.x = static_cast<unsigned>(w.blocks);
    g.block_x = kWhereBlock;
    launch_kernel(*gpu, get(fmt::format("unique_number<{}>", type)), g, values.raw(), w.numbers,
                  w.counts, w.flags, w.place, x.raw(), n);
    void* times = nullptr;
    if (counted) {
      Tensor& out = c.output(2, Shape{found});
      gpu->zero(times = out.raw(), out.bytes());
    }
    launch_kernel(*gpu, get(fmt::format("unique_indices<{}>", index)), grid_for(*gpu, n),
                  indices.raw(), times, w.numbers, w.place, n);
  }
};
Prepared make_unique(const KernelInit& init) {
  return prepared(Unique{&gpu_of(*init.device), std::string(device_type(init.input_types[0])),
                         std::string(device_type(init.output_types[1])),
                         init.op->name == "UniqueWithCounts"});
}

// ---- Numbers that are none.

struct CheckNumerics {
  Gpu* gpu;
  CUfunction f;
  std::string message;
  bool signs;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const BufferPtr memory = scratch(*gpu, 4);
    void* const found = memory->data();
    gpu->zero(found, 4);
    if (const int64_t n = x.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), found, x.raw(), n);
    read_number_then<int32_t>(c, *gpu, found, [this](KernelContext& c, int32_t odd) {
      complain(odd);
      c.set_output(0, c.input(0));
    });
  }
  void complain(int32_t odd) const {
    std::vector<std::string> names;
    if (signs && (odd & 4)) names.push_back("-Inf");
    if (signs && (odd & 2)) names.push_back("+Inf");
    if (!signs && (odd & 6)) names.push_back("Inf");
    if (odd & 1) names.push_back("NaN");
    if (!names.empty())
      throw invalid_argument(fmt::format("{} : Tensor had {} values", message, listed(names)));
  }
  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i > 0) text += names.size() > 2 ? ", " : " ";
      if (i > 0 && i + 1 == names.size()) text += "and ";
      text += names[i];
    }
    return text;
  }
};
Prepared make_check(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(CheckNumerics{
      &gpu,
      gpu.jit().get("dynamic", fmt::format("odd_numbers<{}>", device_type(init.input_types[0]))),
      init.attr<std::string>("message"), init.op->name == "CheckNumericsV2"});
}

}  // namespace

std::vector<KernelRow> dynamic_kernels() {
  std::vector<DType> types = number_types(), keys = real_types();
  types.push_back(DType::kBool);
  keys.push_back(DType::kBool);
  std::vector<KernelRow> rows = {cuda_row("Where", make_where, {{"T", types}}),
                                 cuda_row("DynamicPartition", stateless<dynamic_partition>),
                                 cuda_row("Unique", make_unique, {{"T", keys}}),
                                 cuda_row("UniqueWithCounts", make_unique, {{"T", keys}}),
                                 cuda_row("CheckNumerics", make_check, {{"T", kFloats}}),
                                 cuda_row("CheckNumericsV2", make_check, {{"T", kFloats}})};
  for (const char* how : {"Sum", "Mean", "Prod", "Max", "Min"})
    rows.push_back(cuda_row(std::string("Segment") + how, make_segments, {{"T", real_types()}}));
  for (KernelRow& row : rows) row.traits.replays = false;  // what they launch depends on the data
  return rows;
}

}  // namespace emplace::cuda
