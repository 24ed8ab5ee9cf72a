// Sparse tensors moved about: joined, cut, put in order, their empty rows filled: device/sparse_places.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/sparse_checks.h"

namespace emplace::cuda {
namespace {

constexpr int64_t kBlock = 1024;  // device/dynamic.cuh's WHERE_BLOCK

CUfunction get(Gpu& gpu, const std::string& name) { return gpu.jit().get("sparse_places", name); }
CUfunction get_moved(Gpu& gpu, const char* name, DType t) {
  return get(gpu, fmt::format("{}<{}>", name, device_bits(t)));
}
int64_t blocks_of(int64_t n) { return (n + kBlock - 1) / kBlock; }

// Numbers of the host in memory of the card's that `held` owns.
const int64_t* on_card(Gpu& gpu, const std::vector<int64_t>& numbers, BufferPtr& held) {
  const size_t bytes = numbers.size() * sizeof(int64_t);
  held = scratch(gpu, std::max<size_t>(bytes, 8));
  if (bytes > 0)
    check(cudaMemcpyAsync(held->data(), numbers.data(), bytes, cudaMemcpyHostToDevice, gpu.stream()),
          "copying");
  return static_cast<const int64_t*>(held->data());
}
// An output in host memory.
void put_sizes(KernelContext& c, int output, const std::vector<int64_t>& sizes) {
  Tensor& out = c.output(output, Shape{static_cast<int64_t>(sizes.size())});
  std::copy(sizes.begin(), sizes.end(), out.data<int64_t>());
}
// Rows of indices, counted from `start` if there is one, and values by their numbers.
void take(Gpu& gpu, Tensor& to_indices, Tensor& to_values, const Tensor& indices,
          const Tensor& values, const int64_t* order, const int64_t* start) {
  if (const int64_t n = to_indices.num_elements())
    launch_kernel(gpu, get(gpu, "take_places"), grid_for(gpu, n), to_indices.raw(), indices.raw(),
                  order, start, n, indices.dim(1));
  if (const int64_t n = to_values.num_elements())
    launch_kernel(gpu,
                  gpu.jit().get("dynamic", fmt::format("take_rows<{}>", device_bits(values.dtype()))),
                  grid_for(gpu, n), to_values.raw(), values.raw(), order, n, int64_t{1});
}

// Keys and the numbers of those they belong to, sorted by merging; equal keys stay as they were.
struct Sorted {
  int64_t n;
  BufferPtr memory;
  int64_t *keys, *order, *other;
  Sorted(Gpu& gpu, int64_t count)
      : n(count), memory(scratch(gpu, static_cast<size_t>(4 * count) * sizeof(int64_t))) {
    keys = static_cast<int64_t*>(memory->data());
    order = keys + n;
    other = order + n;
  }
  void sort(Gpu& gpu) {
    const CUfunction merge = get(gpu, "merge_runs");
    for (int64_t width = 1; width < n; width *= 2) {
      launch_kernel(gpu, merge, grid_for(gpu, n), other, other + n, keys, order, n, width);
      std::swap(keys, other);
      order = keys + n;
    }
  }
};

// By the places in a tensor whose sizes lie on the card.
void put_in_order(KernelContext& c, Gpu& gpu, const Tensor& indices, const Tensor& values,
                  const int64_t* dims) {
  const int64_t n = indices.dim(0);
  Tensor &to_indices = c.output(0, indices.shape()), &to_values = c.output(1, values.shape());
  if (n == 0) return;
  Sorted s(gpu, n);
  launch_kernel(gpu, get(gpu, "flat_keys"), grid_for(gpu, n), s.keys, s.order, indices.raw(), dims, n,
                indices.dim(1));
  s.sort(gpu);
  take(gpu, to_indices, to_values, indices, values, s.order, nullptr);
}

// (indices, values, shape), the shape on the card, too.
void reorder(KernelContext& c) {
  check_sparse(c.input(0), c.input(1), c.input(2));
  put_in_order(c, gpu_of(c.device()), c.input(0), c.input(1), c.input(2).data<int64_t>());
}

// (indices …, values …, shapes …)
struct Concat {
  int64_t axis;
  int count;
  void operator()(KernelContext& c) const {
    Gpu& gpu = gpu_of(c.device());
    std::vector<std::vector<int64_t>> sizes;
    int64_t n = 0;
    for (int i = 0; i < count; ++i) {
      check_sparse(c.input(i), c.input(count + i), c.input(2 * count + i));
      sizes.push_back(host_ints(c.input(2 * count + i)));
      n += c.input(i).dim(0);
    }
    int64_t at = axis, before = 0, first = 0;
    const std::vector<int64_t> dims = joined_sizes(sizes, at);
    checked_size(dims);
    const auto rank = static_cast<int64_t>(dims.size());
    const Tensor indices = c.temp(DType::kInt64, Shape{n, rank}),
                 values = c.temp(c.input(count).dtype(), Shape{n});
    for (int i = 0; i < count; ++i) {
      const Tensor &part = c.input(i), &given = c.input(count + i);
      if (const int64_t each = part.num_elements())
        launch_kernel(gpu, get(gpu, "shifted_places"), grid_for(gpu, each),
                      indices.data<int64_t>() + first * rank, part.raw(), each, rank, at, before);
      if (given.bytes() > 0)
        c.device().copy(values.data<char>() + static_cast<size_t>(first) * dtype_size(values.dtype()),
                        given.raw(), given.bytes());
      first += part.dim(0);
      before += sizes[static_cast<size_t>(i)][static_cast<size_t>(at)];
    }
    BufferPtr held;
    put_in_order(c, gpu, indices, values, on_card(gpu, dims, held));
    put_sizes(c, 2, dims);
  }
};
Prepared make_concat(const KernelInit& i) {
  return prepared(Concat{i.attr<int64_t>("concat_dim"), static_cast<int>(i.attr<int64_t>("N"))});
}

// (indices, shape, new shape)
void reshape(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor& indices = c.input(0);
  if (indices.rank() != 2 || c.input(1).rank() != 1 || c.input(2).rank() != 1)
    throw invalid_argument("indices must be a matrix, shapes vectors");
  std::vector<int64_t> both = host_ints(c.input(1));
  const auto before = static_cast<int64_t>(both.size());
  if (indices.dim(1) != before)
    throw invalid_argument("Input tensor rank must match input shape length.");
  const std::vector<int64_t> to = reshaped_sizes(both, host_ints(c.input(2)));
  both.insert(both.end(), to.begin(), to.end());
  const int64_t n = indices.dim(0), after = static_cast<int64_t>(to.size());
  Tensor& out = c.output(0, Shape{n, after});
  put_sizes(c, 1, to);
  if (out.num_elements() == 0) return;
  BufferPtr held;
  launch_kernel(gpu, get(gpu, "reshaped_places"), grid_for(gpu, n), out.raw(), indices.raw(),
                on_card(gpu, both, held), n, before, after);
}

// (indices, values, shape, start, size)
void slice(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor& indices = c.input(0);
  check_sparse(indices, c.input(1), c.input(2));
  std::vector<int64_t> box = host_ints(c.input(3));
  const std::vector<int64_t> sizes = sliced_sizes(host_ints(c.input(2)), box, host_ints(c.input(4)));
  const int64_t n = indices.dim(0), rank = indices.dim(1), blocks = blocks_of(n);
  put_sizes(c, 2, sizes);
  if (n == 0) {
    c.output(0, Shape{0, rank});
    c.output(1, Shape{0});
    return;
  }
  for (size_t d = 0; d < sizes.size(); ++d) box.push_back(box[d] + sizes[d]);
  BufferPtr held;
  const int64_t* const limits = on_card(gpu, box, held);
  const BufferPtr memory = scratch(gpu, static_cast<size_t>(blocks + 1 + n) * sizeof(int64_t) +
                                            static_cast<size_t>(n));
  auto* const counts = static_cast<int64_t*>(memory->data());
  int64_t* const order = counts + blocks + 1;
  void* const flags = order + n;
  launch_kernel(gpu, get(gpu, "in_box"), grid_for(gpu, n), flags, indices.raw(), limits, n, rank);
  Grid g;
  g.x = static_cast<unsigned>(blocks);
  launch_kernel(gpu, gpu.jit().get("dynamic", "where_count<u8>"), g, counts, flags, n);
  launch_kernel(gpu, gpu.jit().get("dynamic", "where_sum"), Grid{}, counts, blocks);
  Strides s;
  s.rank = 1;
  s.dims[0] = static_cast<uint32_t>(n);
  g.block_x = kBlock;
  launch_kernel(gpu, gpu.jit().get("dynamic", "where_write<u8, i64>"), g, order, counts, flags, n, s);
  read_number_then<int64_t>(
      c, gpu, counts + blocks, [held, memory, limits, order, rank](KernelContext& c, int64_t found) {
        Tensor &to_indices = c.output(0, Shape{found, rank}), &to_values = c.output(1, Shape{found});
        take(gpu_of(c.device()), to_indices, to_values, c.input(0), c.input(1), order, limits);
      });
}

// (gradient, indices, start, indices of the slice), all on the card.
void slice_gradient(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor &gradient = c.input(0), &in = c.input(1), &start = c.input(2), &taken = c.input(3);
  if (in.rank() != 2 || taken.rank() != 2 || gradient.rank() != 1 || in.dim(1) != taken.dim(1) ||
      in.dim(1) != start.num_elements() || gradient.dim(0) != taken.dim(0))
    throw invalid_argument("gradient, indices and start do not belong together");
  Tensor& out = c.output(0, Shape{in.dim(0)});
  if (const int64_t n = in.dim(0))
    launch_kernel(gpu, get_moved(gpu, "from_slice", gradient.dtype()), grid_for(gpu, n), out.raw(),
                  gradient.raw(), in.raw(), start.raw(), taken.raw(), n, taken.dim(0), in.dim(1));
}

// (axis, indices, values, shape)
struct Split {
  int parts;
  void operator()(KernelContext& c) const {
    Gpu& gpu = gpu_of(c.device());
    const Tensor& indices = c.input(1);
    check_sparse(indices, c.input(2), c.input(3));
    const std::vector<int64_t> dims = host_ints(c.input(3));
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t given = host_ints(c.input(0)).at(0), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank)
      throw invalid_argument(fmt::format("split_dim must be in the range [{}, {}), but got {}", -rank,
                                         rank, given));
    const int64_t length = dims[static_cast<size_t>(axis)], small = length / parts,
                  more = length % parts, n = indices.dim(0);
    if (length < parts)
      throw invalid_argument(fmt::format(
          "Input shape should have at least {} along axis {}, has {}", parts, given, length));
    std::vector<int64_t> starts(static_cast<size_t>(parts * rank), 0);
    for (int64_t p = 0, at = 0; p < parts; ++p) {
      std::vector<int64_t> size = dims;
      size[static_cast<size_t>(axis)] = small + (p < more ? 1 : 0);
      starts[static_cast<size_t>(p * rank + axis)] = at;
      at += size[static_cast<size_t>(axis)];
      put_sizes(c, 2 * parts + static_cast<int>(p), size);
    }
    BufferPtr held;
    const int64_t* const shifts = on_card(gpu, starts, held);
    const auto ends = static_cast<size_t>(parts + 1);
    if (n == 0) return cut(c, nullptr, shifts, std::vector<int64_t>(ends, 0).data());
    const int64_t blocks = blocks_of(n), cells = parts * blocks;
    const BufferPtr memory = scratch(gpu, (static_cast<size_t>(cells + 1 + 2 * n) + ends) * sizeof(int64_t));
    auto* const counts = static_cast<int64_t*>(memory->data());
    int64_t *const order = counts + cells + 1, *const which = order + n + ends;
    gpu.zero(counts, static_cast<size_t>(cells) * sizeof(int64_t));
    launch_kernel(gpu, get(gpu, "part_of_place"), grid_for(gpu, n), which, indices.raw(), n, rank,
                  axis, small, more);
    const auto many = static_cast<int64_t>(parts);
    launch_kernel(gpu, gpu.jit().get("dynamic", "part_count"), grid_for(gpu, n), counts, which, n, many,
                  blocks);
    launch_kernel(gpu, gpu.jit().get("dynamic", "where_sum"), Grid{}, counts, cells);
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    g.block_x = kBlock;
    launch_kernel(gpu, gpu.jit().get("dynamic", "part_place"), g, order, order + n, counts, which, n,
                  many, blocks);
    read_then(c, gpu, order + n, ends * sizeof(int64_t),
              [this, held, memory, order, shifts](KernelContext& c, const void* firsts) {
                cut(c, order, shifts, static_cast<const int64_t*>(firsts));
              });
  }
  void cut(KernelContext& c, const int64_t* order, const int64_t* shifts, const int64_t* firsts) const {
    const int64_t rank = c.input(1).dim(1);
    for (int p = 0; p < parts; ++p) {
      const int64_t count = firsts[p + 1] - firsts[p];
      Tensor &to_indices = c.output(p, Shape{count, rank}),
             &to_values = c.output(parts + p, Shape{count});
      take(gpu_of(c.device()), to_indices, to_values, c.input(1), c.input(2), order + firsts[p],
           shifts + p * rank);
    }
  }
};
Prepared make_split(const KernelInit& i) {
  return prepared(Split{static_cast<int>(i.attr<int64_t>("num_split"))});
}

// ---- Empty rows.

// (indices, values, shape, default), or (row of each value, values, number of rows, default).
struct FillRows {
  bool ragged;
  void operator()(KernelContext& c) const {
    Gpu& gpu = gpu_of(c.device());
    const Tensor &places = c.input(0), &values = c.input(1);
    int64_t rows = 0;
    if (ragged) {
      if (places.rank() != 1 || values.rank() != 1 || places.dim(0) != values.dim(0))
        throw invalid_argument("value_rowids and values must be vectors of one length");
      rows = host_ints(c.input(2)).at(0);
      if (rows < 0 || rows > (int64_t{1} << 32))
        throw invalid_argument(fmt::format("nrows must not be negative, nor huge: {}", rows));
    } else {
      check_sparse(places, values, c.input(2));
      if (places.dim(1) == 0) throw invalid_argument("Dense shape cannot be empty.");
      rows = host_ints(c.input(2)).at(0);
      if (rows > (int64_t{1} << 40))
        throw resource_exhausted(fmt::format("a sparse tensor of {} rows", rows));
    }
    if (c.input(3).num_elements() != 1) throw invalid_argument("default_value must be a scalar");
    const int64_t n = values.dim(0), blocks = blocks_of(rows);
    Work w{Sorted(gpu, std::max<int64_t>(n, 1)), {}, nullptr, nullptr, rows};
    w.s.n = n;
    w.memory = scratch(gpu, static_cast<size_t>(2 * rows + blocks + 4) * sizeof(int64_t));
    w.counts = static_cast<int64_t*>(w.memory->data());
    w.starts = w.counts + rows;
    // found: is anything out of order, the first value without a row, [sums of blocks,] how many.
    int64_t *const found = w.starts + rows, *const sums = found + 2;
    gpu.zero(w.counts, static_cast<size_t>(rows) * sizeof(int64_t));
    gpu.zero(found, sizeof(int64_t));
    check(cudaMemsetAsync(found + 1, 0xff, sizeof(int64_t), gpu.stream()), "filling");
    if (n > 0)
      launch_kernel(gpu, get(gpu, "row_counts"), grid_for(gpu, n), w.counts, w.s.keys, w.s.order,
                    found, places.raw(), n, rank(c), rows);
    Grid g;
    g.x = static_cast<unsigned>(blocks);
    g.block_x = kBlock;
    if (blocks > 0) launch_kernel(gpu, get(gpu, "filled_sums"), g, sums, w.counts, rows);
    launch_kernel(gpu, gpu.jit().get("dynamic", "where_sum"), Grid{}, sums, blocks);
    if (blocks > 0)
      launch_kernel(gpu, get(gpu, "filled_starts"), g, w.starts, sums, w.counts, rows);
    // What the host wants to know, side by side.
    const BufferPtr told = scratch(gpu, 3 * sizeof(int64_t));
    auto* const tell = static_cast<int64_t*>(told->data());
    c.device().copy(tell, found, 2 * sizeof(int64_t));
    c.device().copy(tell + 2, sums + blocks, sizeof(int64_t));
    read_then(c, gpu, tell, 3 * sizeof(int64_t), [this, w, told](KernelContext& c, const void* at) {
      fill(c, w, static_cast<const int64_t*>(at));
    });
  }

 private:
  struct Work {
    Sorted s;
    BufferPtr memory;
    int64_t *counts, *starts, rows;
  };
  int64_t rank(KernelContext& c) const { return ragged ? 1 : c.input(0).dim(1); }
  void fill(KernelContext& c, Work w, const int64_t* told) const {
    Gpu& gpu = gpu_of(c.device());
    const Tensor &places = c.input(0), &values = c.input(1);
    const int64_t n = values.dim(0), total = told[2];
    if (told[1] >= 0)
      throw invalid_argument(
          ragged ? fmt::format("value_rowids({}) is not in [0, {})", told[1], w.rows)
                 : fmt::format("indices({}, 0) is invalid: not in [0, {})", told[1], w.rows));
    if (told[0]) w.s.sort(gpu);
    Tensor& to_places = c.output(0, ragged ? Shape{total} : Shape{total, rank(c)});
    Tensor &to_values = c.output(1, Shape{total}), &empty = c.output(2, Shape{w.rows}),
           &back = c.output(3, Shape{n});
    if (n > 0)
      launch_kernel(gpu, get_moved(gpu, "fill_values", values.dtype()), grid_for(gpu, n),
                    to_places.raw(), to_values.raw(), back.raw(), w.s.keys, w.s.order, w.starts,
                    places.raw(), values.raw(), n, rank(c));
    if (w.rows > 0)
      launch_kernel(gpu, get_moved(gpu, "fill_rows", values.dtype()), grid_for(gpu, w.rows),
                    to_places.raw(), to_values.raw(), empty.raw(), w.counts, w.starts,
                    c.input(3).raw(), w.rows, rank(c));
  }
};
Prepared make_fill(const KernelInit& i) {
  return prepared(FillRows{i.op->name.starts_with("Ragged")});
}

// (number of each value's row among the filled ones, gradient)
void fill_gradient(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const Tensor &back = c.input(0), &gradient = c.input(1);
  if (back.rank() != 1 || gradient.rank() != 1)
    throw invalid_argument("reverse_index_map and grad_values must be vectors");
  Tensor &values = c.output(0, back.shape()), &rest = c.output(1, Shape{});
  const int64_t n = back.dim(0), count = gradient.dim(0);
  const BufferPtr memory = scratch(gpu, sizeof(int64_t) + static_cast<size_t>(count));
  auto* const found = static_cast<int64_t*>(memory->data());
  void* const taken = found + 1;
  check(cudaMemsetAsync(found, 0xff, sizeof(int64_t), gpu.stream()), "filling");
  if (count > 0) gpu.zero(taken, static_cast<size_t>(count));
  const DType t = gradient.dtype();
  if (n > 0)
    launch_kernel(gpu, get_moved(gpu, "back_to_values", t), grid_for(gpu, n), values.raw(), taken,
                  static_cast<void*>(found), back.raw(), gradient.raw(), n, count);
  const bool real = std::find(kFloats.begin(), kFloats.end(), t) != kFloats.end();
  launch_kernel(gpu,
                get(gpu, fmt::format("back_to_default<{}, {}>", device_type(t), real ? "double" : "i64")),
                Grid{}, rest.raw(), taken, gradient.raw(), count);
  read_number_then<int64_t>(c, gpu, found, [memory, count](KernelContext&, int64_t wrong) {
    if (wrong >= 0)
      throw invalid_argument(fmt::format(
          "Elements in reverse index must be in [0, {}), which element {} is not", count, wrong));
  });
}

}  // namespace

std::vector<KernelRow> sparse_place_kernels() {
  const TypeConstraint numbers{"T", real_types()};
  std::vector<KernelRow> rows = {cuda_row("SparseReorder", stateless<reorder>),
                                 cuda_row("SparseConcat", make_concat),
                                 cuda_row("SparseReshape", stateless<reshape>),
                                 cuda_row("SparseSlice", stateless<slice>),
                                 cuda_row("SparseSliceGrad", stateless<slice_gradient>),
                                 cuda_row("SparseSplit", make_split),
                                 cuda_row("SparseFillEmptyRows", make_fill),
                                 cuda_row("RaggedFillEmptyRows", make_fill),
                                 cuda_row("SparseFillEmptyRowsGrad", stateless<fill_gradient>, {numbers}),
                                 cuda_row("RaggedFillEmptyRowsGrad", stateless<fill_gradient>, {numbers})};
  for (KernelRow& row : rows) row.traits.replays = false;  // scratch memory is this call's own
  return rows;
}

}  // namespace emplace::cuda
