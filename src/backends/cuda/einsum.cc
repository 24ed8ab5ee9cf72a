// Sums of products in Einstein's notation: operands laid out for one batch of matrix products.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/product.h"
#include "kernel/einsum_labels.h"

namespace emplace::cuda {
namespace {

using namespace einsum;

Strides strides_of(const Labels& order, const Sizes& sizes, const einsum::Steps& steps) {
  std::vector<int64_t> dims, strides;
  for (int l : order) {
    dims.push_back(sizes.at(l));
    const auto at = steps.find(l);
    strides.push_back(at == steps.end() ? 0 : at->second);
  }
  return merged(dims, strides);
}

struct Einsum {
  Gpu* gpu;
  EinsumEquation equation;
  CUfunction arrange, scatter;

  void operator()(KernelContext& c) const {
    std::vector<Shape> shapes;
    for (int i = 0; i < c.num_inputs(); ++i) shapes.push_back(c.input(i).shape());
    const EinsumLabels l = label_einsum(equation, shapes);
    Shape shape;
    for (int label : l.output) shape.push_back(l.sizes.at(label));
    Tensor& out = c.output(0, shape);
    if (out.num_elements() == 0) return;
    if (c.num_inputs() == 1) {
      const Labels unique = once(l.output);
      if (unique == l.output) return lay_out(c.input(0), l.inputs[0], unique, l.sizes, out.raw());
      const Tensor sums = c.temp(out.dtype(), Shape{product(unique, l.sizes)});
      lay_out(c.input(0), l.inputs[0], unique, l.sizes, sums.raw());
      return put(sums, unique, l, out);
    }
    const Roles roles(l);
    const Labels order = joined(joined(roles.batch, roles.left), roles.right);
    if (order == l.output) return multiply(c, l, roles, out);
    const Tensor made = c.temp(out.dtype(), Shape{product(order, l.sizes)});
    multiply(c, l, roles, made);
    put(made, order, l, out);
  }

 private:
  // The operand with its labels in this order, summed over all others, to `to`.
  void lay_out(const Tensor& in, const Labels& labels, const Labels& order, const Sizes& sizes,
               void* to) const {
    const einsum::Steps steps = steps_of(in.shape(), labels, sizes);
    Labels summed;
    for (const auto& [label, step] : steps)
      if (!holds(order, label)) summed.push_back(label);
    const int64_t n = product(order, sizes), each = product(summed, sizes);
    if (each == 0) return gpu->zero(to, static_cast<size_t>(n) * dtype_size(in.dtype()));
    launch_kernel(*gpu, arrange, grid_for(*gpu, n), to, in.raw(), n, each,
                  strides_of(order, sizes, steps), strides_of(summed, sizes, steps));
  }
  // As above, or the tensor itself where it lies so already.
  Tensor laid_out(KernelContext& c, const Tensor& in, const Labels& labels, const Labels& order,
                  const Sizes& sizes) const {
    if (labels == order && in.num_elements() == product(order, sizes)) return in;
    Tensor own = c.temp(in.dtype(), Shape{product(order, sizes)});
    lay_out(in, labels, order, sizes, own.raw());
    return own;
  }
  void multiply(KernelContext& c, const EinsumLabels& l, const Roles& r, const Tensor& out) const {
    const int64_t k = product(r.inner, l.sizes);
    if (k == 0) return gpu->zero(out.raw(), out.bytes());
    const Tensor a =
        laid_out(c, c.input(0), l.inputs[0], joined(joined(r.batch, r.left), r.inner), l.sizes);
    const Tensor b =
        laid_out(c, c.input(1), l.inputs[1], joined(joined(r.batch, r.inner), r.right), l.sizes);
    batch_product(*gpu, out.dtype(), out.raw(), a.raw(), b.raw(), product(r.batch, l.sizes),
                  product(r.left, l.sizes), product(r.right, l.sizes), k);
  }
  // To the output, whose labels may stand twice.
  void put(const Tensor& from, const Labels& order, const EinsumLabels& l, Tensor& out) const {
    const Labels unique = once(l.output);
    if (unique.size() != l.output.size()) gpu->zero(out.raw(), out.bytes());
    const int64_t n = product(unique, l.sizes);
    const einsum::Steps target = steps_of(out.shape(), l.output, l.sizes),
                  source = packed(order, l.sizes);
    std::vector<int64_t> dims, to, at;
    for (int label : unique) {
      dims.push_back(l.sizes.at(label));
      to.push_back(target.at(label));
      at.push_back(source.at(label));
    }
    launch_kernel(*gpu, scatter, grid_for(*gpu, n), out.raw(), from.raw(), int64_t{0}, n,
                  merged(dims, to, at));
  }
};

Prepared make_einsum(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType t = init.type("T");
  return prepared(
      Einsum{&gpu, parse_einsum(init.attr<std::string>("equation")),
             gpu.jit().get("reduce", fmt::format("arranged<{}>", device_type(t))),
             gpu.jit().get("arrange", fmt::format("move_strided<{}>", device_bits(t)))});
}

}  // namespace

std::vector<KernelRow> einsum_kernels() {
  std::vector<DType> types = kFloats;
  types.insert(types.end(), kComplexes.begin(), kComplexes.end());
  KernelRow row = cuda_row("Einsum", make_einsum, {{"T", types}});
  row.traits.replays = false;  // scratch tensors of each call
  return {std::move(row)};
}

}  // namespace emplace::cuda
