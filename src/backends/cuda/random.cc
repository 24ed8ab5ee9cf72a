// Random numbers: TensorFlow's Philox streams, device/random.cuh.
#include <fmt/format.h>

#include <mutex>
#include <random>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

constexpr uint64_t kReservedPerOutput = 256;

// Counter and key of the next number.
struct Place {
  uint64_t low, high, key;
  void skip(uint64_t blocks) {
    low += blocks;
    if (low < blocks) ++high;
  }
};

// A node's place in its stream; belongs to the session.
class Stream : public Resource {
 public:
  Stream(uint64_t seed, uint64_t seed2) : next_{0, seed2, seed} {}
  Place reserve(uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    const Place here = next_;
    next_.skip(blocks);
    return here;
  }
  std::string debug_string() const override { return "random stream"; }

 private:
  std::mutex mutex_;
  Place next_;
};

std::shared_ptr<Stream> stream_of(const KernelInit& init) {
  auto seed = static_cast<uint64_t>(init.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(init.attr<int64_t>("seed2"));
  const std::string name =
      fmt::format("cuda/{}/{}/{}/{}", init.node, init.op->name, seed, seed2);
  auto make = [&]() -> std::shared_ptr<Resource> {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed = uint64_t{device()} << 32 | device();
      seed2 = uint64_t{device()} << 32 | device();
    }
    return std::make_shared<Stream>(seed, seed2);
  };
  if (!init.resources) return std::static_pointer_cast<Stream>(make());
  return init.resources->find_or_create_as<Stream>("_random", name, make);
}

struct Draw {
  Gpu* gpu;
  CUfunction f;
  std::shared_ptr<Stream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const int64_t n = out.num_elements();
    const Place p = stream->reserve(static_cast<uint64_t>(n) * kReservedPerOutput);
    if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, p.low, p.high, p.key);
  }
};
Prepared make_draw(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.output_types[0]);
  const std::string& op = init.op->name;
  const std::string instance = op == "TruncatedNormal"
                                   ? fmt::format("draw_truncated<{}>", t)
                                   : fmt::format("draw<{}, {}>", t, op == "RandomStandardNormal");
  return prepared(Draw{&gpu, gpu.jit().get("random", instance), stream_of(init)});
}

struct DrawInt {
  Gpu* gpu;
  CUfunction f;
  std::shared_ptr<Stream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const int64_t low = host_ints(c.input(1)).at(0), high = host_ints(c.input(2)).at(0);
    const int64_t n = out.num_elements();
    const Place p = stream->reserve(static_cast<uint64_t>(n) * kReservedPerOutput);
    if (n == 0) return;
    if (low >= high)
      throw invalid_argument(fmt::format("Need minval < maxval, got {} >= {}", low, high));
    const auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (out.dtype() == DType::kInt32)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, p.low, p.high, p.key,
                    static_cast<int32_t>(low), range);
    else
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, p.low, p.high, p.key, low, range);
  }
};
Prepared make_draw_int(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(DrawInt{
      &gpu,
      gpu.jit().get("random", fmt::format("draw_int<{}>", device_type(init.output_types[0]))),
      stream_of(init)});
}

}  // namespace

std::vector<KernelRow> random_kernels() {
  const TypeConstraint floats{"dtype", kFloats};
  std::vector<KernelRow> rows = {
          cuda_row("RandomUniform", make_draw, {floats}),
          cuda_row("RandomStandardNormal", make_draw, {floats}),
          cuda_row("TruncatedNormal", make_draw, {floats}),
          cuda_row("RandomUniformInt", make_draw_int,
                   {{"Tout", {DType::kInt32, DType::kInt64}}})};
  for (KernelRow& row : rows) row.traits.replays = false;  // the place in the stream moves on
  return rows;
}

}  // namespace emplace::cuda
