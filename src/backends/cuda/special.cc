// Functions of statistics and of physics: device/special.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "kernel/betainc_shape.h"

namespace emplace::cuda {
namespace {

struct OfOne {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n);
  }
};
Prepared make_of_one(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(
      OfOne{&gpu, gpu.jit().get("special", fmt::format("special_of_one<{}, {}>", init.op->name,
                                                       device_type(init.type("T"))))});
}

struct OfTwo {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Shape &a = c.input(0).shape(), &b = c.input(1).shape();
    Tensor& out = c.output(0, broadcast_shape(a, b));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(0).raw(), c.input(1).raw(), n,
                    broadcast_strides(out.shape(), {&a, &b}));
  }
};
Prepared make_of_two(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(
      OfTwo{&gpu, gpu.jit().get("special", fmt::format("special_of_two<{}, {}>", init.op->name,
                                                       device_type(init.type("T"))))});
}

struct Betainc {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Shape &a = c.input(0).shape(), &b = c.input(1).shape(), &x = c.input(2).shape();
    Tensor& out = c.output(0, betainc_shape(a, b, x));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(0).raw(), c.input(1).raw(),
                    c.input(2).raw(), n, broadcast_strides(out.shape(), {&a, &b, &x}));
  }
};
Prepared make_betainc(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Betainc{
      &gpu, gpu.jit().get("special", fmt::format("betainc<{}>", device_type(init.type("T"))))});
}

}  // namespace

std::vector<KernelRow> special_kernels() {
  const TypeConstraint floats{"T", kFloats};
  std::vector<KernelRow> rows = {cuda_row("Betainc", make_betainc, {floats})};
  for (const char* op : {"BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselK0", "BesselK0e",
                         "BesselK1", "BesselK1e", "BesselJ0", "BesselJ1", "BesselY0", "BesselY1",
                         "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"})
    rows.push_back(cuda_row(op, make_of_one, {floats}));
  for (const char* op :
       {"Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Zeta", "Polygamma"})
    rows.push_back(cuda_row(op, make_of_two, {floats}));
  return rows;
}

}  // namespace emplace::cuda
