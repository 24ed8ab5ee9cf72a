// Tensors packed, tiled, padded, turned round.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/strided.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// ---- Pack and Unpack: a box with one dimension of size 1 each.

struct Pack {
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Shape& part = c.input(0).shape();
    for (int i = 1; i < c.num_inputs(); ++i)
      if (!(c.input(i).shape() == part))
        throw invalid_argument(fmt::format(
            "Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}",
            part.str(), i, c.input(i).shape().str()));
    if (axis < -part.rank() - 1 || axis > part.rank())
      throw invalid_argument(
          fmt::format("axis = {} not in [{}, {})", axis, -part.rank() - 1, part.rank() + 1));
    const int at = static_cast<int>(axis < 0 ? axis + part.rank() + 1 : axis);
    Shape shape = part;
    shape.insert(at, c.num_inputs());
    Tensor& out = c.output(0, shape);
    Box to = Box::whole(out);
    const int64_t step = to.strides[static_cast<size_t>(at)];
    to.strides.erase(to.strides.begin() + at);
    for (int i = 0; i < c.num_inputs(); ++i, to.offset += step)
      copy_box(c, part.dims(), Box::whole(c.input(i)), to);
  }
};
Prepared make_pack(const KernelInit& i) { return prepared(Pack{i.attr<int64_t>("axis")}); }

struct Unpack {
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (axis < -in.rank() || axis >= in.rank())
      throw invalid_argument(fmt::format("axis = {} not in [{}, {})", axis, -in.rank(), in.rank()));
    const int at = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
    if (in.dim(at) != c.num_outputs())
      throw invalid_argument(fmt::format("Input shape axis {} must equal {}, got shape {}", at,
                                         c.num_outputs(), in.shape().str()));
    Box from = Box::whole(in);
    const int64_t step = from.strides[static_cast<size_t>(at)];
    from.strides.erase(from.strides.begin() + at);
    Shape part = in.shape();
    part.erase(at);
    for (int i = 0; i < c.num_outputs(); ++i, from.offset += step) {
      Tensor& out = c.output(i, part);
      copy_box(c, part.dims(), from, Box::whole(out));
    }
  }
};
Prepared make_unpack(const KernelInit& i) { return prepared(Unpack{i.attr<int64_t>("axis")}); }

// ---- Repeats: boxes with strides of 0.

std::vector<int64_t> multiples_of(const Tensor& in, const Tensor& given) {
  const auto times = int_values(given);
  if (given.rank() != 1 || static_cast<int>(times.size()) != in.rank())
    throw invalid_argument(
        fmt::format("Expected multiples argument to be a vector of length {} "
                    "but got length {}",
                    in.rank(), times.size()));
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i] < 0)
      throw invalid_argument(fmt::format("Expected multiples[{}] >= 0, but got {}", i, times[i]));
  return times;
}

// Each dimension seen as (times, size); the input stands still along the first.
void tile(KernelContext& c) {
  const Tensor& in = c.input(0);
  const auto times = multiples_of(in, c.input(1));
  std::vector<int64_t> sizes, result, strides;
  const auto own = row_major_strides(in.shape());
  for (size_t i = 0; i < times.size(); ++i) {
    const int64_t size = in.dim(static_cast<int>(i));
    sizes.insert(sizes.end(), {times[i], size});
    strides.insert(strides.end(), {0, own[i]});
    int64_t product;
    if (__builtin_mul_overflow(times[i], size, &product))
      throw invalid_argument("Tile: the result is too large");
    result.push_back(product);
  }
  checked_elements(result);
  Tensor& out = c.output(0, Shape(result));
  const Tensor seen = out.reshaped(Shape(std::span<const int64_t>(sizes)));
  copy_box(c, sizes, Box{&in, 0, strides}, Box::whole(seen));
}

void broadcast_to(KernelContext& c) {
  const Tensor& in = c.input(0);
  const Shape to =
      c.input(1).rank() == 0 && c.input(1).num_elements() == 0 ? Shape{} : shape_from(c.input(1));
  const Shape* shapes[] = {&in.shape(), &to};
  bool fits = in.rank() <= to.rank();
  for (int i = 0; i < in.rank() && fits; ++i) {
    const int64_t d = in.dim(in.rank() - 1 - i);
    fits = d == 1 || d == to[to.rank() - 1 - i];
  }
  if (!fits)
    throw invalid_argument(
        fmt::format("Incompatible shapes: {} vs. {}", shapes[0]->str(), shapes[1]->str()));
  Tensor& out = c.output(0, to);
  std::vector<int64_t> strides(static_cast<size_t>(to.rank()), 0);
  const auto own = row_major_strides(in.shape());
  for (int i = 0; i < in.rank(); ++i)
    if (in.dim(i) != 1)
      strides[static_cast<size_t>(to.rank() - in.rank() + i)] = own[static_cast<size_t>(i)];
  copy_box(c, to.dims(), Box{&in, 0, strides}, Box::whole(out));
}

// ---- Padding.

std::vector<int64_t> paddings_of(const Tensor& in, const Tensor& given) {
  if (given.rank() != 2 || given.dim(1) != 2)
    throw invalid_argument("paddings must be a matrix with 2 columns: " + given.shape().str());
  if (given.dim(0) != in.rank())
    throw invalid_argument(
        fmt::format("The first dimension of paddings must be the rank of inputs{} {}",
                    given.shape().str(), in.shape().str()));
  auto p = int_values(given);
  for (size_t i = 0; i < p.size(); i += 2)
    if (p[i] < 0 || p[i + 1] < 0)
      throw invalid_argument(fmt::format("Paddings must be non-negative: {} {}", p[i], p[i + 1]));
  return p;
}

Shape padded_shape(const Tensor& in, const std::vector<int64_t>& p) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < in.rank(); ++i) {
    const auto u = static_cast<size_t>(2 * i);
    int64_t size;
    if (__builtin_add_overflow(p[u], p[u + 1], &size) ||
        __builtin_add_overflow(size, in.dim(i), &size))
      throw invalid_argument("Pad: the result is too large");
    sizes.push_back(size);
  }
  checked_elements(sizes);
  return Shape(sizes);
}

void pad(KernelContext& c) {
  const Tensor& in = c.input(0);
  const auto p = paddings_of(in, c.input(1));
  if (c.num_inputs() > 2 && c.input(2).num_elements() != 1)
    throw invalid_argument("Constant value must be a scalar.");
  Tensor& out = c.output(0, padded_shape(in, p));
  const Mover mover(out.dtype());
  if (c.num_inputs() > 2)
    mover.fill(out, 0, out.num_elements(), c.input(2).raw());
  else
    mover.zero(out, 0, out.num_elements());
  Box to = Box::whole(out);
  for (size_t i = 0; i < to.strides.size(); ++i) to.offset += p[2 * i] * to.strides[i];
  copy_box(c, in.shape().dims(), Box::whole(in), to);
}

// The source of each element along one dimension. `edge`: 0 repeats the border (SYMMETRIC), 1 does
// not (REFLECT).
std::vector<int64_t> mirror_map(int64_t size, int64_t before, int64_t after, int64_t edge) {
  if (before > size - edge || after > size - edge)
    throw invalid_argument(
        fmt::format("paddings must be no greater than the dimension size{}: "
                    "{}, {} greater than {}",
                    edge ? " minus 1" : "", before, after, size));
  std::vector<int64_t> map;
  for (int64_t i = -before; i < size + after; ++i)
    map.push_back(i < 0 ? -i - 1 + edge : i < size ? i : 2 * size - 1 - i - edge);
  return map;
}

struct MirrorPad {
  int64_t edge;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const auto p = paddings_of(in, c.input(1));
    const Shape shape = padded_shape(in, p);
    std::vector<std::vector<int64_t>> maps;
    for (int i = 0; i < in.rank(); ++i) {
      const auto u = static_cast<size_t>(2 * i);
      maps.push_back(mirror_map(in.dim(i), p[u], p[u + 1], edge));
    }
    copy_mapped(c, in, maps, c.output(0, shape));
  }
};
Prepared make_mirror(const KernelInit& init) {
  return prepared(MirrorPad{init.attr<std::string>("mode") == "REFLECT" ? 1 : 0});
}

// Every element goes back to where MirrorPad took it from; those that meet are added.
struct MirrorPadGrad {
  int64_t edge;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const auto p = paddings_of(in, c.input(1));
    std::vector<std::vector<int64_t>> maps;
    Shape shape = in.shape();
    for (int i = 0; i < in.rank(); ++i) {
      const auto u = static_cast<size_t>(2 * i);
      const int64_t size = in.dim(i) - p[u] - p[u + 1];
      if (size < 0) throw invalid_argument("paddings are larger than the padded tensor");
      shape.set_dim(i, size);
      maps.push_back(mirror_map(size, p[u], p[u + 1], edge));
    }
    Tensor& out = c.output(0, shape);
    Mover(out.dtype()).zero(out, 0, out.num_elements());
    const ScatterLoop add = scatter_loop(ScatterOp::kAdd, in.dtype());
    const auto strides = row_major_strides(shape);
    const auto size = static_cast<int64_t>(dtype_size(in.dtype()));
    for (const int64_t i : paced(in.num_elements())) {
      int64_t rest = i, to = 0;
      for (size_t d = maps.size(); d-- > 0;) {
        const auto n = static_cast<int64_t>(maps[d].size());
        to += maps[d][static_cast<size_t>(rest % n)] * strides[d];
        rest /= n;
      }
      add(static_cast<char*>(out.raw()) + to * size, static_cast<const char*>(in.raw()) + i * size,
          1);
    }
  }
};
Prepared make_mirror_grad(const KernelInit& init) {
  return prepared(MirrorPadGrad{init.attr<std::string>("mode") == "REFLECT" ? 1 : 0});
}

// ---- Turned round.

void reverse(KernelContext& c, const std::vector<bool>& turned) {
  const Tensor& in = c.input(0);
  Tensor& out = c.output(0, in.shape());
  Box from = Box::whole(in);
  for (int i = 0; i < in.rank(); ++i) {
    const auto u = static_cast<size_t>(i);
    if (!turned[u]) continue;
    from.offset += (in.dim(i) - 1) * from.strides[u];
    from.strides[u] = -from.strides[u];
  }
  copy_box(c, in.shape().dims(), from, Box::whole(out));
}

void reverse_v1(KernelContext& c) {
  const Tensor &in = c.input(0), &dims = c.input(1);
  if (dims.rank() != 1 || dims.num_elements() != in.rank())
    throw invalid_argument(
        fmt::format("'dims' must have as many values as 'tensor' has dimensions, "
                    "{} and {}",
                    dims.shape().str(), in.shape().str()));
  reverse(c, std::vector<bool>(dims.data<bool>(), dims.data<bool>() + in.rank()));
}

void reverse_v2(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (c.input(1).rank() > 1) throw invalid_argument("'dims' must be 1-dimension");
  std::vector<bool> turned(static_cast<size_t>(in.rank()));
  const auto axes = int_values(c.input(1));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -in.rank() || axes[i] >= in.rank())  // without its bracket, as TensorFlow says it
      throw invalid_argument(fmt::format("'axis'[{}] = {} is out of valid range [0, {}", i, axes[i],
                                         in.rank() - 1));
    const auto at = static_cast<size_t>(axes[i] < 0 ? axes[i] + in.rank() : axes[i]);
    if (turned[at]) throw invalid_argument(fmt::format("axis {} specified more than once.", at));
    turned[at] = true;
  }
  reverse(c, turned);
}

std::vector<int64_t> dims_of(const Shape& s) { return {s.dims().begin(), s.dims().end()}; }

// What is rolled falls into two parts along each dimension, each of which goes elsewhere as it is.
void roll_part(KernelContext& c, const std::vector<int64_t>& by, size_t d, const Box& from,
               const Box& to, std::vector<int64_t> sizes) {
  while (d < by.size() && by[d] == 0) ++d;
  if (d == by.size()) return copy_box(c, sizes, from, to);
  const int64_t size = sizes[d], step = from.strides[d];
  Box there = to, here = from;
  there.offset += by[d] * step;
  sizes[d] = size - by[d];
  roll_part(c, by, d + 1, from, there, sizes);
  here.offset += (size - by[d]) * step;
  sizes[d] = by[d];
  roll_part(c, by, d + 1, here, to, sizes);
}

void roll(KernelContext& c) {
  const Tensor &in = c.input(0), &shift = c.input(1), &axis = c.input(2);
  if (in.rank() < 1) throw invalid_argument("input must be 1-D or higher");
  if (shift.rank() > 1 || axis.rank() > 1 || !(shift.shape() == axis.shape()))
    throw invalid_argument("shift and axis must have the same size");
  const auto shifts = int_values(shift), axes = int_values(axis);
  std::vector<int64_t> by(static_cast<size_t>(in.rank()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -in.rank() || axes[i] >= in.rank())
      throw invalid_argument(fmt::format("axis {} is out of range", axes[i]));
    const int at = checked_axis(axes[i], in.rank());
    const int64_t size = std::max<int64_t>(in.dim(at), 1);
    auto& b = by[static_cast<size_t>(at)];
    b = ((b + shifts[i] % size) % size + size) % size;
  }
  roll_part(c, by, 0, Box::whole(in), Box::whole(c.output(0, in.shape())), dims_of(in.shape()));
}

// Sequence i lies at index i of batch_dim and runs along seq_dim.
struct ReverseSequence {
  int64_t seq_dim, batch_dim;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const int s = checked_axis(seq_dim, in.rank(), "seq_dim");
    const int b = checked_axis(batch_dim, in.rank(), "batch_dim");
    if (s == b) throw invalid_argument(fmt::format("batch_dim == seq_dim == {}", s));
    const auto lengths = int_values(c.input(1));
    if (c.input(1).rank() != 1 || static_cast<int64_t>(lengths.size()) != in.dim(b))
      throw invalid_argument(fmt::format("Length of seq_lengths != input.dims({})", b));
    for (int64_t n : lengths)
      if (n < 0 || n > in.dim(s))
        throw invalid_argument(
            fmt::format("seq_lengths must be within [0, {}], got {}", in.dim(s), n));
    Tensor& out = c.output(0, in.shape());
    Box from = Box::whole(in), to = Box::whole(out);
    std::vector<int64_t> sizes(in.shape().begin(), in.shape().end());
    sizes[static_cast<size_t>(b)] = 1;
    for (const size_t i : paced(lengths.size())) {
      const auto at = static_cast<int64_t>(i) * to.strides[static_cast<size_t>(b)];
      one_sequence(c, sizes, from, to, s, at, lengths[i], in.dim(s));
    }
  }
  static void one_sequence(KernelContext& c, std::vector<int64_t> sizes, Box from, Box to, int s,
                           int64_t at, int64_t length, int64_t whole) {
    const auto u = static_cast<size_t>(s);
    const int64_t step = from.strides[u];
    Box back = from;
    back.offset = at + (length - 1) * step;
    back.strides[u] = -step;
    to.offset = at;
    sizes[u] = length;
    copy_box(c, sizes, back, to);
    from.offset = to.offset = at + length * step;
    sizes[u] = whole - length;
    copy_box(c, sizes, from, to);
  }
};
Prepared make_sequence(const KernelInit& i) {
  return prepared(ReverseSequence{i.attr<int64_t>("seq_dim"), i.attr<int64_t>("batch_dim")});
}

}  // namespace

std::vector<KernelRow> arrange_kernels() {
  return {row("Pack", make_pack),
          row("Unpack", make_unpack),
          row("Tile", stateless<tile>),
          row("BroadcastTo", stateless<broadcast_to>),
          row("Pad", stateless<pad>),
          row("PadV2", stateless<pad>),
          row("MirrorPad", make_mirror),
          {"MirrorPadGrad", "CPU", {{"T", Numbers::dtypes()}}, {}, make_mirror_grad, {}, 0, ""},
          row("Reverse", stateless<reverse_v1>),
          row("ReverseV2", stateless<reverse_v2>),
          row("Roll", stateless<roll>),
          row("ReverseSequence", make_sequence)};
}

}  // namespace emplace::cpu
