// Boxes that overlap little, projections of images, the state of a generator: device/boxes.cuh.
#include <fmt/format.h>

#include <limits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/box_checks.h"

namespace emplace::cuda {
namespace {

// (boxes, scores, most, overlap[, least score])
struct ChooseBoxes {
  Gpu* gpu;
  CUfunction f;
  bool pads;
  static float number(const Tensor& t) {
    check_threshold(t);
    return t.dtype() == DType::kHalf ? static_cast<float>(*t.data<Half>()) : *t.data<float>();
  }
  void operator()(KernelContext& c) const {
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    check_boxes(boxes, scores);
    const int64_t n = boxes.dim(0), wanted = most_boxes(c.input(2));
    const float overlap = number(c.input(3));
    check_overlap(overlap);
    const float least =
        c.num_inputs() > 4 ? number(c.input(4)) : -std::numeric_limits<float>::infinity();
    const int64_t most = std::min(wanted, n);
    if (most == 0) return give(c, wanted, nullptr, 0);
    const BufferPtr memory =
        scratch(*gpu, static_cast<size_t>(most + 1) * 4 + static_cast<size_t>(n));
    auto* const chosen = static_cast<int32_t*>(memory->data());
    launch_kernel(*gpu, f, Grid{}, chosen, chosen + most, chosen + most + 1, boxes.raw(),
                  scores.raw(), n, most, overlap, least);
    read_number_then<int32_t>(c, *gpu, chosen + most,
                              [this, memory, wanted](KernelContext& c, int32_t found) {
                                give(c, wanted, memory->data(), found);
                              });
  }
  void give(KernelContext& c, int64_t wanted, const void* chosen, int32_t found) const {
    Tensor& out = c.output(0, Shape{pads ? wanted : found});
    gpu->zero(out.raw(), out.bytes());
    if (found > 0) c.device().copy(out.raw(), chosen, static_cast<size_t>(found) * 4);
    if (c.num_outputs() > 1) fill_from_host(*gpu, c.output(1, Shape{}), &found);
  }
};
Prepared make_choose(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const AttrValue* pad = init.find("pad_to_max_output_size");
  return prepared(
      ChooseBoxes{&gpu, gpu.jit().get("boxes", "choose_boxes"), pad && pad->as<bool>()});
}

// Must look as device/boxes.cuh's does.
struct Projection {
  int64_t height, width, depth, rows, columns, step;
  float fill;
  int32_t beyond, bilinear;
};

// (images, transforms, output shape[, fill])
struct Project {
  Gpu* gpu;
  CUfunction f;
  int32_t beyond, bilinear;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &transforms = c.input(1);
    if (in.rank() != 4) throw invalid_argument("images must have rank 4");
    if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
        (transforms.dim(0) != 1 && transforms.dim(0) != in.dim(0)))
      throw invalid_argument("Input transform should be num_images x 8 or 1 x 8");
    const auto size = host_ints(c.input(2));
    if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
      throw invalid_argument("output_shape must be two positive sizes");
    const float fill = c.num_inputs() > 3 ? *c.input(3).data<float>() : 0;
    Tensor& out = c.output(0, Shape{in.dim(0), size[0], size[1], in.dim(3)});
    const Projection s{in.dim(1), in.dim(2), in.dim(3), size[0], size[1],
                       transforms.dim(0) == 1 ? 0 : 8, fill, beyond, bilinear};
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), in.raw(), transforms.raw(), n, s);
  }
};
Prepared make_project(const KernelInit& init) {
  static constexpr std::string_view kModes[] = {"CONSTANT", "REFLECT", "WRAP", "NEAREST"};
  Gpu& gpu = gpu_of(*init.device);
  const auto& mode = init.attr<std::string>("fill_mode");
  const auto& interpolation = init.attr<std::string>("interpolation");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR")
    throw invalid_argument("Invalid interpolation " + interpolation +
                           ". Supported types: NEAREST, BILINEAR");
  int32_t beyond = 0;
  while (beyond < 4 && kModes[beyond] != mode) ++beyond;
  if (beyond == 4)
    throw invalid_argument("Invalid mode " + mode +
                           ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST");
  return prepared(Project{
      &gpu, gpu.jit().get("boxes", fmt::format("project<{}>", device_type(init.type("dtype")))),
      beyond, interpolation == "BILINEAR"});
}

// (resource, algorithm, delta)
void read_and_skip(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  if (c.input(2).num_elements() != 1) throw invalid_argument("delta must be a scalar");
  if (const int64_t a = host_ints(c.input(1)).at(0); a != 1)
    throw invalid_argument(fmt::format("Unsupported algorithm id: {}", a));
  const uint64_t delta = *c.input(2).data<uint64_t>();
  Tensor& out = c.output(0, Shape{3});
  c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
    if (t.dtype() != DType::kInt64 || t.rank() != 1 || t.num_elements() < 3)
      throw invalid_argument("the state must be at least 3 int64s, not " + t.shape().str());
    Grid one;
    one.block_x = 1;
    launch_kernel(gpu, gpu.jit().get("boxes", "read_and_skip"), one, out.raw(), t.raw(), delta);
  });
}

}  // namespace

std::vector<KernelRow> box_kernels() {
  using enum DType;
  std::vector<KernelRow> rows;
  for (const char* op : {"NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4"}) {
    rows.push_back(cuda_row(op, make_choose, {{"T", {kFloat}}}));
    rows.back().traits.replays = false;  // what it launches depends on the data
  }
  for (const char* op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"})
    rows.push_back(
        cuda_row(op, make_project,
                 {{"dtype", {kUint8, kInt32, kInt64, kHalf, kBfloat16, kFloat, kDouble}}}));
  rows.push_back(cuda_row("RngReadAndSkip", stateless<read_and_skip>));
  return rows;
}

}  // namespace emplace::cuda
