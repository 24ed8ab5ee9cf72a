// Moving elements about: device/arrange.cuh, and copies of the card's own.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "op/strided_slice.h"

namespace emplace::cuda {
namespace {

// Strides of a row-major tensor, in elements.
std::vector<int64_t> steps_of(const Shape& shape) {
  std::vector<int64_t> steps(static_cast<size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d)
    steps[static_cast<size_t>(d)] = steps[static_cast<size_t>(d) + 1] * shape[d + 1];
  return steps;
}

// Runs gather_strided or scatter_strided on elements of one size: where neighbours stay neighbours, 16
// bytes at a time.
struct Mover {
  Gpu* gpu;
  int64_t size;  // of an element
  CUfunction gather, scatter, wide_gather, wide_scatter;

  explicit Mover(const KernelInit& init, DType t)
      : gpu(&gpu_of(*init.device)),
        size(static_cast<int64_t>(dtype_size(t))),
        gather(get("gather_strided", device_bits(t))),
        scatter(get("scatter_strided", device_bits(t))),
        wide_gather(get("gather_strided", "c128")),
        wide_scatter(get("scatter_strided", "c128")) {}

  void out_of(Tensor& out, const Tensor& in, int64_t base, std::span<const int64_t> dims,
              std::span<const int64_t> strides) const {
    move(gather, wide_gather, out, in, base, out.num_elements(), merged(dims, strides));
  }
  void into(Tensor& out, const Tensor& in, int64_t base, std::span<const int64_t> strides) const {
    move(scatter, wide_scatter, out, in, base, in.num_elements(), merged(in.shape().dims(), strides));
  }
  void clear(Tensor& t) const {
    if (t.bytes() > 0)
      check(cudaMemsetAsync(t.raw(), 0, t.bytes(), gpu->stream()), "filling with zeros");
  }

 private:
  CUfunction get(const char* form, std::string_view bits) const {
    return gpu->jit().get("arrange", fmt::format("{}<{}>", form, bits));
  }
  void move(CUfunction f, CUfunction wide, Tensor& out, const Tensor& in, int64_t base, int64_t n,
            Strides s) const {
    if (n == 0) return;
    if (aligned({out.raw(), in.raw()}) && widen(s, base, size)) f = wide, n /= kVectorBytes / size;
    launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), in.raw(), base, n, s);
  }
};

// ---- Transpose.

struct Transpose {
  Mover mover;
  CUfunction tiles;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const std::vector<int64_t> perm = host_ints(c.input(1));
    if (static_cast<int>(perm.size()) != x.rank())
      throw invalid_argument(fmt::format("transpose expects a vector of size {}. But input(1) is a "
                                         "vector of size {}", x.rank(), perm.size()));
    const std::vector<int64_t> steps = steps_of(x.shape());
    std::vector<int64_t> dims, strides;
    std::vector<bool> seen(perm.size(), false);
    for (int64_t p : perm) {
      if (p < 0) p += x.rank();
      if (p < 0 || p >= x.rank() || seen[static_cast<size_t>(p)])
        throw invalid_argument(fmt::format("{} is not a permutation of {} dimensions", p,
                                           x.rank()));
      seen[static_cast<size_t>(p)] = true;
      dims.push_back(x.dim(static_cast<int>(p)));
      strides.push_back(steps[static_cast<size_t>(p)]);
    }
    Tensor& out = c.output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    const Strides s = merged(dims, strides);
    // [batch, columns, rows] of strides {rows·columns, 1, columns}: tiles.
    const bool flat = s.rank == 2 && s.strides[0][0] == 1 && s.strides[0][1] == s.dims[0];
    const bool batched = s.rank == 3 && s.strides[0][1] == 1 && s.strides[0][2] == s.dims[1] &&
                         s.strides[0][0] == int64_t{s.dims[1]} * s.dims[2] && s.dims[0] < 65536;
    if (!flat && !batched)
      return mover.out_of(out, x, 0, dims, strides);
    const int64_t columns = flat ? s.dims[0] : s.dims[1], rows = flat ? s.dims[1] : s.dims[2];
    Grid g;
    g.x = static_cast<unsigned>((columns + 31) / 32);
    g.y = static_cast<unsigned>((rows + 31) / 32);
    g.z = flat ? 1 : s.dims[0];
    g.block_x = 32;
    g.block_y = 8;
    if (g.y > 65535) return mover.out_of(out, x, 0, dims, strides);
    launch_kernel(*mover.gpu, tiles, g, out.raw(), x.raw(), rows, columns);
  }
};
Prepared make_transpose(const KernelInit& init) {
  const DType t = init.input_types[0];
  return prepared(Transpose{Mover(init, t),
                            gpu_of(*init.device).jit().get(
                                "arrange", fmt::format("transpose<{}>", device_bits(t)))});
}

struct ConjugateTranspose {
  Transpose transpose;
  CUfunction conjugate;  // null: real numbers
  void operator()(KernelContext& c) const {
    transpose(c);
    const Tensor& out = c.output_slot(0);
    if (const int64_t n = out.num_elements(); n > 0 && conjugate)
      launch_kernel(*transpose.mover.gpu, conjugate, one_each(n, 1), out.raw(), out.raw(), n);
  }
};
Prepared make_conjugate_transpose(const KernelInit& init) {
  const DType t = init.input_types[0];
  Jit& jit = gpu_of(*init.device).jit();
  const bool real = t != DType::kComplex64 && t != DType::kComplex128;
  return prepared(ConjugateTranspose{
      {Mover(init, t), jit.get("arrange", fmt::format("transpose<{}>", device_bits(t)))},
      real ? nullptr
           : jit.get("elementwise", fmt::format("unary<Conj, {0}, {0}, 1>", device_type(t)))});
}

// ---- Slices.

struct Slice {
  Mover mover;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const auto begin = host_ints(c.input(1));
    auto size = host_ints(c.input(2));
    if (begin.size() != size.size() || static_cast<int>(begin.size()) != x.rank())
      throw invalid_argument(
          fmt::format("Expected begin and size arguments to be 1-D tensors of size {}, but got "
                      "shapes {} and {} instead.", x.rank(), c.input(1).shape().str(),
                      c.input(2).shape().str()));
    const std::vector<int64_t> steps = steps_of(x.shape());
    int64_t base = 0;
    for (size_t d = 0; d < size.size(); ++d) {
      const int64_t room = x.dim(static_cast<int>(d));
      if (size[d] == -1) size[d] = room - begin[d];
      if (begin[d] < 0 || begin[d] > room)
        throw invalid_argument(fmt::format("Expected begin[{}] in [0, {}], but got {}", d, room,
                                           begin[d]));
      if (size[d] < 0 || begin[d] + size[d] > room)
        throw invalid_argument(fmt::format("Expected size[{}] in [0, {}], but got {}", d,
                                           room - begin[d], size[d]));
      base += begin[d] * steps[d];
    }
    mover.out_of(c.output(0, Shape(size)), x, base, size, steps);
  }
};
Prepared make_slice(const KernelInit& init) {
  return prepared(Slice{Mover(init, init.input_types[0])});
}

SliceSpec spec_of(KernelContext& c, int first, SliceSpec spec) {
  spec.begin = host_ints(c.input(first));
  spec.end = host_ints(c.input(first + 1));
  spec.strides = host_ints(c.input(first + 2));
  spec.entries = static_cast<int>(spec.begin->size());
  return spec;
}

// Where a plan's elements lie in a tensor of `shape`.
struct Place {
  int64_t base = 0;
  std::vector<int64_t> dims, strides;
  Place(const SlicePlan& plan, const Shape& shape) {
    const std::vector<int64_t> steps = steps_of(shape);
    for (size_t d = 0; d < plan.dims.size(); ++d) {
      base += plan.dims[d].begin * steps[d];
      dims.push_back(plan.dims[d].size);
      strides.push_back(plan.dims[d].stride * steps[d]);
    }
  }
};

struct StridedSlice {
  Mover mover;
  SliceSpec masks;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const SlicePlan plan = plan_slice(x.shape(), spec_of(c, 1, masks));
    Tensor& out = c.output(0, plan.result);
    const Place p(plan, x.shape());
    mover.out_of(out, x, p.base, p.dims, p.strides);
  }
};
Prepared make_strided_slice(const KernelInit& init) {
  SliceSpec masks;
  masks.read_masks(*init.attrs);
  return prepared(StridedSlice{Mover(init, init.input_types[0]), masks});
}

struct StridedSliceGrad {
  Mover mover;
  SliceSpec masks;
  void operator()(KernelContext& c) const {
    const Shape shape(host_ints(c.input(0)));
    const SlicePlan plan = plan_slice(shape, spec_of(c, 1, masks));
    const Tensor& dy = c.input(4);
    Tensor& out = c.output(0, shape);
    if (!(plan.result == dy.shape()))
      throw invalid_argument(fmt::format("shape of dy was {} instead of {}", dy.shape().str(),
                                         plan.result.str()));
    mover.clear(out);
    const Place p(plan, shape);
    mover.into(out, dy.reshaped(Shape(p.dims)), p.base, p.strides);
  }
};
Prepared make_strided_slice_grad(const KernelInit& init) {
  SliceSpec masks;
  masks.read_masks(*init.attrs);
  return prepared(StridedSliceGrad{Mover(init, init.output_types[0]), masks});
}

// A part of a tensor takes a value, which broadcasts from the right.
struct SliceWriter {
  Gpu* gpu;
  CUfunction move;
  SliceSpec masks;
  explicit SliceWriter(const KernelInit& init)
      : gpu(&gpu_of(*init.device)),
        move(gpu->jit().get("arrange",
                            fmt::format("move_strided<{}>", device_bits(init.input_types[4])))) {
    masks.read_masks(*init.attrs);
  }

  void write(KernelContext& c, const Tensor& to) const {
    const Tensor& value = c.input(4);
    const SlicePlan plan = plan_slice(to.shape(), spec_of(c, 1, masks));
    const Place p(plan, to.shape());
    const std::vector<int64_t> steps = steps_of(value.shape());
    const int extra = plan.result.rank() - value.rank();
    std::vector<int64_t> from;
    bool fits = extra >= 0;
    for (int d = 0; fits && d < value.rank(); ++d)
      fits = value.dim(d) == plan.result[d + extra] || value.dim(d) == 1;
    if (!fits)
      throw invalid_argument(fmt::format("strided slice shape {} does not match the value's {}",
                                         plan.result.str(), value.shape().str()));
    int64_t n = 1;
    for (const SlicePlan::Dim& d : plan.dims) {
      const int at = d.result - extra;
      const bool spread = d.result < 0 || at < 0 || value.dim(at) == 1;
      from.push_back(spread ? 0 : steps[static_cast<size_t>(at)]);
      n *= d.size;
    }
    if (n > 0)
      launch_kernel(*gpu, move, grid_for(*gpu, n), to.raw(), value.raw(), p.base, n,
                    merged(p.dims, p.strides, from));
  }
};
struct SliceUpdate {
  SliceWriter writer;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    if (out.raw() != x.raw()) c.device().copy(out.raw(), x.raw(), x.bytes());
    writer.write(c, out);
  }
};
Prepared make_slice_update(const KernelInit& init) {
  return prepared(SliceUpdate{SliceWriter(init)});
}
struct SliceAssign {
  SliceWriter writer;
  bool is_ref;
  void operator()(KernelContext& c) const {
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (t.dtype() != c.input(4).dtype())
        throw invalid_argument("l-value dtype does not match r-value dtype");
      writer.write(c, t);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};
Prepared make_slice_assign(const KernelInit& init) {
  return prepared(SliceAssign{SliceWriter(init), init.op->name == "StridedSliceAssign"});
}

// ---- Repeating, padding, turning round.

struct Tile {
  Mover mover;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const auto times = host_ints(c.input(1));
    if (static_cast<int>(times.size()) != x.rank())
      throw invalid_argument(fmt::format("Expected multiples argument to be a vector of length {} "
                                         "but got length {}", x.rank(), times.size()));
    const std::vector<int64_t> steps = steps_of(x.shape());
    std::vector<int64_t> shape, dims, strides;
    for (size_t d = 0; d < times.size(); ++d) {
      if (times[d] < 0)
        throw invalid_argument(fmt::format("Expected multiples[{}] >= 0, but got {}", d, times[d]));
      const int64_t n = x.dim(static_cast<int>(d));
      shape.push_back(n * times[d]);
      dims.insert(dims.end(), {times[d], n});
      strides.insert(strides.end(), {0, steps[d]});
    }
    mover.out_of(c.output(0, Shape(shape)), x, 0, dims, strides);
  }
};
Prepared make_tile(const KernelInit& init) {
  return prepared(Tile{Mover(init, init.input_types[0])});
}

struct BroadcastTo {
  Mover mover;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const Shape shape(host_ints(c.input(1)));
    if (!(broadcast_shape(x.shape(), shape) == shape))
      throw invalid_argument(fmt::format("Incompatible shapes: {} vs. {}", x.shape().str(),
                                         shape.str()));
    Tensor& out = c.output(0, shape);
    const int64_t n = out.num_elements();
    if (n > 0)
      launch_kernel(*mover.gpu, mover.gather, grid_for(*mover.gpu, n), out.raw(), x.raw(),
                    int64_t{0}, n, broadcast_strides(shape, {&x.shape()}));
  }
};
Prepared make_broadcast_to(const KernelInit& init) {
  return prepared(BroadcastTo{Mover(init, init.input_types[0])});
}

struct Pad {
  Mover mover;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const auto pads = host_ints(c.input(1));
    if (static_cast<int>(pads.size()) != 2 * x.rank())
      throw invalid_argument(fmt::format(
          "The first dimension of paddings must be the rank of inputs{} {}",
          c.input(1).shape().str(), x.shape().str()));
    std::vector<int64_t> dims;
    for (int d = 0; d < x.rank(); ++d) {
      const int64_t before = pads[static_cast<size_t>(2 * d)],
                    after = pads[static_cast<size_t>(2 * d + 1)];
      if (before < 0 || after < 0)
        throw invalid_argument(fmt::format("Paddings must be non-negative: {} {}", before, after));
      dims.push_back(x.dim(d) + before + after);
    }
    Tensor& out = c.output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    if (c.num_inputs() > 2) fill_from_host(*mover.gpu, out, c.input(2).raw());
    else mover.clear(out);
    const std::vector<int64_t> steps = steps_of(out.shape());
    int64_t base = 0;
    for (size_t d = 0; d < steps.size(); ++d) base += pads[2 * d] * steps[d];
    mover.into(out, x, base, steps);
  }
};
Prepared make_pad(const KernelInit& init) {
  return prepared(Pad{Mover(init, init.input_types[0])});
}

struct Reverse {
  Mover mover;
  // The first version has a bool for each dimension.
  static std::vector<int64_t> axes(const Tensor& t) {
    if (t.dtype() != DType::kBool) return host_ints(t);
    std::vector<int64_t> axes;
    for (int64_t d = 0; d < t.num_elements(); ++d)
      if (t.data<bool>()[d]) axes.push_back(d);
    return axes;
  }
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    std::vector<int64_t> strides = steps_of(x.shape());
    int64_t base = 0;
    for (int64_t a : axes(c.input(1))) {
      if (a < -x.rank() || a >= x.rank())
        throw invalid_argument(fmt::format("'axis'[0] = {} is out of valid range [0, {}", a,
                                           x.rank() - 1));
      const auto d = static_cast<size_t>(a < 0 ? a + x.rank() : a);
      base += (x.dim(static_cast<int>(d)) - 1) * strides[d];
      strides[d] = -strides[d];
    }
    mover.out_of(c.output(0, x.shape()), x, base, x.shape().dims(), strides);
  }
};
Prepared make_reverse(const KernelInit& init) {
  return prepared(Reverse{Mover(init, init.input_types[0])});
}

}  // namespace

std::vector<KernelRow> arrange_kernels() {
  return {cuda_row("Transpose", make_transpose),
          cuda_row("ConjugateTranspose", make_conjugate_transpose),
          cuda_row("Reverse", make_reverse),
          cuda_row("Slice", make_slice),
          cuda_row("StridedSlice", make_strided_slice),
          cuda_row("StridedSliceGrad", make_strided_slice_grad),
          cuda_row("TensorStridedSliceUpdate", make_slice_update),
          cuda_row("StridedSliceAssign", make_slice_assign),
          cuda_row("ResourceStridedSliceAssign", make_slice_assign),
          cuda_row("Tile", make_tile),
          cuda_row("BroadcastTo", make_broadcast_to),
          cuda_row("Pad", make_pad),
          cuda_row("PadV2", make_pad),
          cuda_row("ReverseV2", make_reverse)};
}

}  // namespace emplace::cuda
