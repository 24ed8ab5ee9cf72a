// Random numbers of further distributions: device/random.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/random_stream.h"

namespace emplace::cuda {
namespace {

Philox seeded(const Tensor& seed) {
  const auto v = host_ints(seed);
  if (v.size() != 2)
    throw invalid_argument("seed must have shape [2], not " + seed.shape().str());
  return Philox::stateless(static_cast<uint64_t>(v[0]), static_cast<uint64_t>(v[1]));
}

// The given shape ends with the parameters'. (shape, seed, alpha), or (shape, key, counter, alg, alpha).
struct Gamma {
  Gpu* gpu;
  CUfunction f;
  bool keyed;
  void operator()(KernelContext& c) const {
    const Tensor& alpha = c.input(keyed ? 4 : 2);
    const Shape shape(host_ints(c.input(0)));
    bool fits = alpha.rank() <= shape.rank();
    for (int i = 1; fits && i <= alpha.rank(); ++i)
      fits = alpha.dim(alpha.rank() - i) == shape[shape.rank() - i];
    if (!fits) throw invalid_argument("Shape passed in must end with broadcasted shape.");
    if (keyed)
      if (const int64_t a = host_ints(c.input(3)).at(0); a != 1 && a != 3)
        throw invalid_argument(fmt::format("Unsupported algorithm id: {}", a));
    const Philox p = keyed ? Philox::keyed(0, 0, 0) : seeded(c.input(1));
    Tensor& out = c.output(0, shape);
    const void* const keys = keyed ? c.input(1).raw() : nullptr;
    const void* const counter = keyed ? c.input(2).raw() : nullptr;
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), alpha.raw(), n, alpha.num_elements(),
                    p.counter(0), p.counter(1), p.key(), keys, counter);
  }
};
Prepared make_gamma(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Gamma{&gpu,
                        gpu.jit().get("random", fmt::format("gamma_numbers<{}>",
                                                            device_type(init.output_types[0]))),
                        init.op->name == "StatelessRandomGammaV3"});
}

struct Classes {
  Gpu* gpu;
  CUfunction sum, draw;
  std::shared_ptr<RandomStream> stream;  // null: a seed comes as input
  void operator()(KernelContext& c) const {
    const Tensor &logits = c.input(0), &count = c.input(1);
    if (logits.rank() != 2)
      throw invalid_argument("logits should be a matrix, got shape " + logits.shape().str());
    if (count.rank() != 0)
      throw invalid_argument("num_samples should be a scalar, got shape " + count.shape().str());
    const int64_t samples = host_ints(count).at(0), rows = logits.dim(0), classes = logits.dim(1);
    if (samples < 0)
      throw invalid_argument(fmt::format("num_samples should be non-negative, got {}", samples));
    if (classes <= 0)
      throw invalid_argument(fmt::format("num_classes should be positive, got {}", classes));
    Tensor& out = c.output(0, Shape{rows, samples});
    const auto reserved = static_cast<uint64_t>(rows * ((samples + 3) / 4 * 4) * 2);
    const Philox p =
        stream ? stream->reserve(reserved * kPhiloxReservedPerOutput) : seeded(c.input(2));
    const int64_t n = out.num_elements();
    if (n == 0) return;
    void* const sums = gpu->workspace(static_cast<size_t>(rows * classes) * sizeof(double));
    launch_kernel(*gpu, sum, grid_for(*gpu, rows), sums, logits.raw(), rows, classes);
    launch_kernel(*gpu, draw, grid_for(*gpu, n), out.raw(), sums, n, samples, classes, p.counter(0),
                  p.counter(1), p.key());
  }
};
Prepared make_classes(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Classes{
      &gpu,
      gpu.jit().get("random", fmt::format("class_sums<{}>", device_type(init.input_types[0]))),
      gpu.jit().get("random", fmt::format("draw_classes<{}>", device_type(init.output_types[0]))),
      init.op->name == "Multinomial" ? random_stream_of(init) : nullptr});
}

// (shape, means, deviations, lower bounds, upper bounds): one for all, or one for each row.
struct NormalsBetween {
  Gpu* gpu;
  CUfunction f;
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    const Shape shape(host_ints(c.input(0)));
    if (shape.rank() == 0) throw invalid_argument("Shape should not be scalar.");
    bool alike = true;
    int32_t steps[4];
    for (int k = 0; k < 4; ++k) {
      const Tensor& t = c.input(k + 1);
      if (t.rank() > 1)
        throw invalid_argument(fmt::format("Parameters should be scalars or vectors, got shape: {}",
                                           t.shape().str()));
      if (t.num_elements() != 1 && t.num_elements() != shape[0])
        throw invalid_argument(fmt::format("Parameters should have length 1 or shape[0], got shape: {}",
                                           t.shape().str()));
      steps[k] = t.num_elements() == 1 ? 0 : 1;
      alike &= steps[k] == 0;
    }
    Tensor& out = c.output(0, shape);
    const int64_t n = out.num_elements();
    if (n == 0) return;
    constexpr int64_t kBatch = 100, kMostTries = 1000;  // as the CPU's
    const int64_t samples = alike ? kBatch : n / shape[0], batches = (n + samples - 1) / samples;
    const Philox p =
        stream->reserve(static_cast<uint64_t>(batches * 2 * kMostTries * (samples + 3) / 4));
    const BufferPtr memory = scratch(*gpu, sizeof(int32_t));
    gpu->zero(memory->data(), sizeof(int32_t));
    launch_kernel(*gpu, f, Grid{}, out.raw(), memory->data(), c.input(1).raw(), c.input(2).raw(),
                  c.input(3).raw(), c.input(4).raw(), steps[0], steps[1], steps[2], steps[3], n,
                  samples, alike, p.counter(0), p.counter(1), p.key());
    read_number_then<int32_t>(c, *gpu, memory->data(), [memory](KernelContext&, int32_t wrong) {
      if (wrong) throw invalid_argument("Invalid parameters");
    });
  }
};
Prepared make_normals_between(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(NormalsBetween{
      &gpu,
      gpu.jit().get("random",
                    fmt::format("normals_between<{}>", device_type(init.output_types[0]))),
      random_stream_of(init)});
}

}  // namespace

std::vector<KernelRow> draw_kernels() {
  const TypeConstraint floats{"dtype", kFloats}, logits{"T", kFloats};
  std::vector<KernelRow> rows = {cuda_row("StatelessRandomGammaV2", make_gamma, {floats}),
                                 cuda_row("StatelessRandomGammaV3", make_gamma, {floats}),
                                 cuda_row("StatelessMultinomial", make_classes, {logits})};
  rows.push_back(cuda_row("Multinomial", make_classes, {logits}));
  rows.back().traits.replays = false;  // the place in the stream moves on
  rows.push_back(cuda_row("ParameterizedTruncatedNormal", make_normals_between,
                          {{"dtype", {DType::kHalf, DType::kFloat, DType::kDouble}}}));
  rows.back().traits.replays = false;
  return rows;
}

}  // namespace emplace::cuda
