// Random numbers: TensorFlow's Philox streams, device/random.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/generator_state.h"
#include "kernel/random_stream.h"

namespace emplace::cuda {
namespace {

struct Draw {
  Gpu* gpu;
  CUfunction f;
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const int64_t n = out.num_elements();
    const Philox p = stream->reserve(static_cast<uint64_t>(n) * kPhiloxReservedPerOutput);
    if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, p.counter(0), p.counter(1), p.key());
  }
};
Prepared make_draw(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.output_types[0]);
  const std::string& op = init.op->name;
  const std::string instance = op == "TruncatedNormal"
                                   ? fmt::format("draw_truncated<{}>", t)
                                   : fmt::format("draw<{}, {}>", t, op == "RandomStandardNormal");
  return prepared(Draw{&gpu, gpu.jit().get("random", instance), random_stream_of(init)});
}

// The bounds of whole numbers, or nothing: every value.
struct Bounds {
  int64_t low = 0;
  uint64_t range = 0;
  Bounds() = default;
  Bounds(const Tensor& from, const Tensor& to) : low(host_ints(from).at(0)) {
    const int64_t high = host_ints(to).at(0);
    if (low >= high)
      throw invalid_argument(fmt::format("Need minval < maxval, got {} >= {}", low, high));
    range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  }
};

// launch_kernel with the lower bound as wide as the dtype.
template <class... Args>
void launch_int(Gpu& gpu, CUfunction f, const Tensor& out, const Bounds& b, Args... args) {
  const Grid g = grid_for(gpu, out.num_elements());
  if (dtype_size(out.dtype()) == 4)
    launch_kernel(gpu, f, g, out.raw(), out.num_elements(), args..., static_cast<int32_t>(b.low),
                  b.range);
  else
    launch_kernel(gpu, f, g, out.raw(), out.num_elements(), args..., b.low, b.range);
}

struct DrawInt {
  Gpu* gpu;
  CUfunction f;
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const auto n = static_cast<uint64_t>(out.num_elements());
    const Philox p = stream->reserve(n * kPhiloxReservedPerOutput);
    if (n > 0) launch_int(*gpu, f, out, Bounds(c.input(1), c.input(2)), p.counter(0), p.counter(1), p.key());
  }
};
Prepared make_draw_int(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(DrawInt{
      &gpu,
      gpu.jit().get("random", fmt::format("draw_int<{}>", device_type(init.output_types[0]))),
      random_stream_of(init)});
}

// ---- Decided by a seed alone: (shape, seed) in host memory.

Philox generator_of(const Tensor& seed) {
  const auto v = host_ints(seed);
  if (v.size() != 2)
    throw invalid_argument("seed must have shape [2], not " + seed.shape().str());
  return Philox::stateless(static_cast<uint64_t>(v[0]), static_cast<uint64_t>(v[1]));
}

struct Seeded {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const Philox p = generator_of(c.input(1));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, p.counter(0), p.counter(1), p.key());
  }
};
Prepared make_seeded(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.output_types[0]);
  const std::string& op = init.op->name;
  const bool normal = op == "StatelessRandomNormal";
  return prepared(Seeded{&gpu, gpu.jit().get("random", op == "StatelessTruncatedNormal"
                                                           ? fmt::format("draw_truncated<{}>", t)
                                                           : fmt::format("draw<{}, {}>", t, normal))});
}

struct SeededInt {
  Gpu* gpu;
  CUfunction f;
  bool full;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const Philox p = generator_of(c.input(1));
    if (out.num_elements() == 0) return;
    const Bounds b = full ? Bounds() : Bounds(c.input(2), c.input(3));
    launch_int(*gpu, f, out, b, p.counter(0), p.counter(1), p.key());
  }
};
Prepared make_seeded_int(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(SeededInt{
      &gpu, gpu.jit().get("random", fmt::format("draw_int<{}>", device_type(init.output_types[0]))),
      init.op->name == "StatelessRandomUniformFullInt"});
}

// ---- (shape, key, counter, alg): key and counter stay on the card.

void check_algorithm(const Tensor& alg) {
  const int64_t a = host_ints(alg).at(0);
  if (a != 1 && a != 3) throw invalid_argument(fmt::format("Unsupported algorithm id: {}", a));
}

struct Keyed {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    check_algorithm(c.input(3));
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, c.input(1).raw(), c.input(2).raw());
  }
};
Prepared make_keyed(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.output_types[0]);
  const std::string& op = init.op->name;
  return prepared(Keyed{
      &gpu, gpu.jit().get("random", op == "StatelessTruncatedNormalV2"
                                        ? fmt::format("draw_truncated_keyed<{}>", t)
                                        : fmt::format("draw_keyed<{}, {}>", t,
                                                      op == "StatelessRandomNormalV2"))});
}

struct KeyedInt {
  Gpu* gpu;
  CUfunction f;
  bool full;
  void operator()(KernelContext& c) const {
    check_algorithm(c.input(3));
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    if (out.num_elements() == 0) return;
    const Bounds b = full ? Bounds() : Bounds(c.input(4), c.input(5));
    launch_int(*gpu, f, out, b, c.input(1).raw(), c.input(2).raw());
  }
};
Prepared make_keyed_int(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(KeyedInt{
      &gpu,
      gpu.jit().get("random", fmt::format("draw_int_keyed<{}>", device_type(init.output_types[0]))),
      init.op->name == "StatelessRandomUniformFullIntV2"});
}

// ---- From a generator's state in a variable, which stays on the card: (resource, algorithm, …).

// Does `work` with the state, counter first and key behind, and moves the counter on for `count` numbers.
template <class Work>
void with_state(KernelContext& c, Gpu& gpu, uint64_t count, Work work) {
  emplace::check_algorithm(host_ints(c.input(1)).at(0));
  c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
    check_generator_state(t, 3);
    int64_t* const state = t.data<int64_t>();
    work(static_cast<void*>(state + 2), static_cast<void*>(state));
    Grid one;
    one.block_x = 1;
    launch_kernel(gpu, gpu.jit().get("random", "move_on"), one, static_cast<void*>(state),
                  count * kPhiloxReservedPerOutput);
  });
}

struct Generated {
  Gpu* gpu;
  CUfunction f;
  bool whole, full;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, Shape(host_ints(c.input(2))));
    const int64_t n = out.num_elements();
    const Bounds b = whole && !full && n > 0 ? Bounds(c.input(3), c.input(4)) : Bounds();
    with_state(c, *gpu, static_cast<uint64_t>(n), [&](void* key, void* counter) {
      if (n == 0) return;
      if (whole) launch_int(*gpu, f, out, b, key, counter);
      else launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), n, key, counter);
    });
  }
};
Prepared make_generated(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.output_types[0]), op = init.op->name;
  const bool full = op == "StatefulUniformFullInt", whole = full || op == "StatefulUniformInt";
  const std::string instance =
      whole ? fmt::format("draw_int_keyed<{}>", t)
      : op == "StatefulTruncatedNormal"
          ? fmt::format("draw_truncated_keyed<{}>", t)
          : fmt::format("draw_keyed<{}, {}>", t, op == "StatefulStandardNormalV2");
  return prepared(Generated{&gpu, gpu.jit().get("random", instance), whole, full});
}

void skip(KernelContext& c) {
  const auto delta = static_cast<uint64_t>(host_ints(c.input(2)).at(0));
  with_state(c, gpu_of(c.device()), delta, [](void*, void*) {});
}

}  // namespace

std::vector<KernelRow> random_kernels() {
  const TypeConstraint floats{"dtype", kFloats};
  std::vector<KernelRow> rows = {
          cuda_row("RandomUniform", make_draw, {floats}),
          cuda_row("RandomStandardNormal", make_draw, {floats}),
          cuda_row("TruncatedNormal", make_draw, {floats}),
          cuda_row("RandomUniformInt", make_draw_int,
                   {{"Tout", {DType::kInt32, DType::kInt64}}}),
          cuda_row("StatefulStandardNormalV2", make_generated, {floats}),
          cuda_row("StatefulTruncatedNormal", make_generated, {floats}),
          cuda_row("StatefulUniform", make_generated, {floats}),
          cuda_row("StatefulUniformInt", make_generated),
          cuda_row("StatefulUniformFullInt", make_generated),
          cuda_row("RngSkip", stateless<skip>)};
  for (KernelRow& row : rows) row.traits.replays = false;  // the place in the stream moves on
  for (const char* op : {"StatelessRandomUniform", "StatelessRandomNormal",
                         "StatelessTruncatedNormal"})
    rows.push_back(cuda_row(op, make_seeded, {floats}));
  for (const char* op :
       {"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"})
    rows.push_back(cuda_row(op, make_keyed, {floats}));
  for (const char* op : {"StatelessRandomUniformInt", "StatelessRandomUniformFullInt"})
    rows.push_back(cuda_row(op, make_seeded_int));
  for (const char* op : {"StatelessRandomUniformIntV2", "StatelessRandomUniformFullIntV2"})
    rows.push_back(cuda_row(op, make_keyed_int));
  return rows;
}

}  // namespace emplace::cuda
