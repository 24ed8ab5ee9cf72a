// Less common moves: blocks and depth, bands, rolls, mirrored edges.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

std::string instance(const char* f, DType t) { return fmt::format("{}<{}>", f, device_bits(t)); }

// out, seen as `dims`, takes in's elements at `strides`.
void gather(Gpu& gpu, Tensor& out, const Tensor& in, std::vector<int64_t> dims,
            std::vector<int64_t> strides) {
  const int64_t n = out.num_elements();
  if (n == 0) return;
  launch_kernel(gpu, gpu.jit().get("arrange", instance("gather_strided", in.dtype())),
                grid_for(gpu, n), out.raw(), in.raw(), int64_t{0}, n, merged(dims, strides));
}

struct Blocks {  // SpaceToDepth and DepthToSpace
  int64_t block;
  bool to_depth, channels_first;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() != 4) throw invalid_argument("Input rank should be: 4 instead of: " +
                                              std::to_string(x.rank()));
    const int64_t b = block, n = x.dim(0);
    const int64_t ch = x.dim(channels_first ? 1 : 3);
    const int64_t h = x.dim(channels_first ? 2 : 1), w = x.dim(channels_first ? 3 : 2);
    if (to_depth ? h % b || w % b : ch % (b * b))
      throw invalid_argument(fmt::format("shape {} is not divisible by block size {}",
                                         x.shape().str(), b));
    const int64_t oh = to_depth ? h / b : h * b, ow = to_depth ? w / b : w * b;
    const int64_t oc = to_depth ? ch * b * b : ch / (b * b);
    Tensor& out = c.output(0, channels_first ? Shape{n, oc, oh, ow} : Shape{n, oh, ow, oc});
    Gpu& gpu = gpu_of(c.device());
    const int64_t image = h * w * ch;
    if (!channels_first && to_depth)
      gather(gpu, out, x, {n, oh, ow, b, b, ch},
             {image, b * w * ch, b * ch, w * ch, ch, 1});
    else if (!channels_first)
      gather(gpu, out, x, {n, h, b, w, b, oc},
             {image, w * ch, b * oc, ch, oc, 1});
    else if (to_depth)
      gather(gpu, out, x, {n, b, b, ch, oh, ow}, {image, w, 1, h * w, b * w, b});
    else
      gather(gpu, out, x, {n, oc, h, b, w, b},
             {image, h * w, w, b * oc * h * w, 1, oc * h * w});
  }
};
Prepared make_blocks(const KernelInit& init) {
  const AttrValue* format = init.find("data_format");
  return prepared(Blocks{init.attr<int64_t>("block_size"), init.op->name == "SpaceToDepth",
                         format && format->as<std::string>() == "NCHW"});
}

void band_part(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 2)
    throw invalid_argument("input must be at least 2-dim, received shape: " + x.shape().str());
  Tensor& out = c.output(0, x.shape());
  Gpu& gpu = gpu_of(c.device());
  const int64_t n = x.num_elements();
  if (n > 0)
    launch_kernel(gpu, gpu.jit().get("arrange", instance("band_part", x.dtype())),
                  grid_for(gpu, n), out.raw(), x.raw(), n, x.dim(x.rank() - 2),
                  x.dim(x.rank() - 1), host_ints(c.input(1)).at(0), host_ints(c.input(2)).at(0));
}

// Row-major strides of `shape`, one for each dimension.
Strides plain(const Shape& shape, const Shape& extent) {
  if (shape.rank() > 8) throw unimplemented("more than 8 dimensions");
  Strides s;
  s.rank = shape.rank();
  int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    s.dims[d] = static_cast<uint32_t>(extent[d]);
    s.strides[0][d] = step;
    step *= shape[d];
  }
  return s;
}

void roll(KernelContext& c) {
  const Tensor& x = c.input(0);
  const auto shifts = host_ints(c.input(1)), axes = host_ints(c.input(2));
  if (x.rank() < 1) throw invalid_argument("input must be 1-D or higher");
  if (shifts.size() != axes.size())
    throw invalid_argument("shift and axis must have the same size");
  Steps by;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    if (axis < 0 || axis >= x.rank())
      throw invalid_argument(fmt::format("axis {} is out of range", axes[i]));
    if (const int64_t size = x.dim(static_cast<int>(axis)))
      by.dims[axis] = ((by.dims[axis] + shifts[i]) % size + size) % size;
  }
  Tensor& out = c.output(0, x.shape());
  Gpu& gpu = gpu_of(c.device());
  const int64_t n = x.num_elements();
  if (n > 0)
    launch_kernel(gpu, gpu.jit().get("arrange", instance("roll", x.dtype())), grid_for(gpu, n),
                  out.raw(), x.raw(), n, plain(x.shape(), x.shape()), by);
}

struct MirrorPad {
  int32_t skip;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const auto pads = host_ints(c.input(1));
    if (static_cast<int>(pads.size()) != 2 * x.rank())
      throw invalid_argument("paddings must have a row for each dimension of " + x.shape().str());
    Steps p;
    std::vector<int64_t> dims;
    for (int d = 0; d < x.rank(); ++d) {
      const int64_t before = pads[static_cast<size_t>(2 * d)], after = pads[static_cast<size_t>(2 * d + 1)];
      if (before < 0 || after < 0 || before > x.dim(d) - skip || after > x.dim(d) - skip)
        throw invalid_argument(fmt::format("paddings must be no greater than the dimension size: "
                                           "{}, {} greater than {}", before, after, x.dim(d)));
      p.dims[d] = before;
      p.strides[d] = x.dim(d);
      dims.push_back(x.dim(d) + before + after);
    }
    Tensor& out = c.output(0, Shape(dims));
    Gpu& gpu = gpu_of(c.device());
    const int64_t n = out.num_elements();
    if (n > 0)
      launch_kernel(gpu, gpu.jit().get("arrange", instance("mirror_pad", x.dtype())),
                    grid_for(gpu, n), out.raw(), x.raw(), n, plain(x.shape(), out.shape()), p, skip);
  }
};
Prepared make_mirror_pad(const KernelInit& init) {
  return prepared(MirrorPad{init.attr<std::string>("mode") == "REFLECT" ? 1 : 0});
}

}  // namespace

std::vector<KernelRow> rearrange_kernels() {
  return {cuda_row("SpaceToDepth", make_blocks), cuda_row("DepthToSpace", make_blocks),
          cuda_row("MatrixBandPart", stateless<band_part>),
          cuda_row("BatchMatrixBandPart", stateless<band_part>), cuda_row("Roll", stateless<roll>),
          cuda_row("MirrorPad", make_mirror_pad)};
}

}  // namespace emplace::cuda
