// Sums of products in Einstein's notation, as one batch of matrix products.
#include "backends/cpu/gemm.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/strided.h"
#include "kernel/einsum_labels.h"

namespace emplace::cpu {
namespace {

using List = Types<float, double, Half, Bfloat16, int32_t, int64_t, Complex64, Complex128>;
using namespace einsum;

// A tensor in memory with a step for each label.
struct Operand {
  const Tensor* tensor;
  Steps steps;
};

Operand operand(const Tensor& t, const Labels& labels, const Sizes& sizes) {
  return {&t, steps_of(t.shape(), labels, sizes)};
}

// Walks indices of some labels in order, the last one fastest.
class Walk {
 public:
  Walk(const Labels& labels, const Sizes& sizes, const Steps& steps) {
    for (int l : labels) {
      size_.push_back(sizes.at(l));
      const auto at = steps.find(l);
      step_.push_back(at == steps.end() ? 0 : at->second);
    }
    index_.assign(size_.size(), 0);
  }
  void go_to(int64_t i) {
    offset_ = 0;
    for (size_t d = size_.size(); d-- > 0; i /= size_[d]) {
      index_[d] = i % size_[d];
      offset_ += index_[d] * step_[d];
    }
  }
  void next() {
    for (size_t d = size_.size(); d-- > 0;) {
      offset_ += step_[d];
      if (++index_[d] < size_[d]) return;
      offset_ -= step_[d] * size_[d];
      index_[d] = 0;
    }
  }
  int64_t offset() const { return offset_; }

 private:
  std::vector<int64_t> size_, step_, index_;
  int64_t offset_ = 0;
};

bool is_dense(const Operand& o, const Labels& order, const Sizes& sizes) {
  if (o.steps.size() != order.size()) return false;
  int64_t step = 1;
  for (size_t d = order.size(); d-- > 0; step *= sizes.at(order[d]))
    if (o.steps.at(order[d]) != step && sizes.at(order[d]) != 1) return false;
  return true;
}

std::vector<int64_t> sizes_of(const Labels& order, const Sizes& sizes) {
  std::vector<int64_t> all;
  for (int l : order) all.push_back(sizes.at(l));
  return all;
}
std::vector<int64_t> steps_in(const Labels& order, const Steps& steps) {
  std::vector<int64_t> all;
  for (int l : order) {
    const auto at = steps.find(l);
    all.push_back(at == steps.end() ? 0 : at->second);
  }
  return all;
}

// The operand with its labels in this order, summed over all others.
Tensor arranged(KernelContext& c, const Operand& o, const Labels& order, const Sizes& sizes) {
  if (is_dense(o, order, sizes)) return *o.tensor;
  Labels summed;
  for (const auto& [label, step] : o.steps)
    if (!holds(order, label)) summed.push_back(label);
  const int64_t n = einsum::product(order, sizes), each = einsum::product(summed, sizes);
  Tensor out = c.temp(o.tensor->dtype(), Shape{n});
  if (summed.empty()) {
    copy_box(c, sizes_of(order, sizes), Box{o.tensor, 0, steps_in(order, o.steps)},
             Box{&out, 0, steps_in(order, packed(order, sizes))});
    return out;
  }
  visit_dtype(out.dtype(), List{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = o.tensor->data<T>();
    c.parallel_for(n, 3.0 * static_cast<double>(each), [&](int64_t begin, int64_t end) {
      Walk walk(order, sizes, o.steps), inner(summed, sizes, o.steps);
      walk.go_to(begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) {
        Compute<T> sum{};
        inner.go_to(0);
        for (int64_t k = 0; k < each; ++k, inner.next())
          sum += static_cast<Compute<T>>(from[walk.offset() + inner.offset()]);
        out.data<T>()[i] = static_cast<T>(sum);
      }
    });
  });
  return out;
}

// Writes what has its labels in this order to the output, whose labels may stand twice.
void put(KernelContext& c, const Tensor& from, const Labels& order, const Labels& output,
         const Sizes& sizes, Tensor& out) {
  const Operand target = operand(out, output, sizes), source{&from, packed(order, sizes)};
  const Labels unique = once(output);
  if (unique.size() != output.size()) std::memset(out.raw(), 0, out.bytes());
  copy_box(c, sizes_of(unique, sizes), Box{&from, 0, steps_in(unique, source.steps)},
           Box{&out, 0, steps_in(unique, target.steps)});
}

void multiply_elements(KernelContext& c, const Tensor& a, const Tensor& b, Tensor& out, int64_t n) {
  visit_dtype(out.dtype(), List{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Wrap<Compute<T>>;
    c.parallel_for(n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out.data<T>()[i] = static_cast<T>(static_cast<C>(static_cast<Compute<T>>(a.data<T>()[i])) *
                                          static_cast<C>(static_cast<Compute<T>>(b.data<T>()[i])));
    });
  });
}

void multiply(KernelContext& c, const EinsumLabels& l, const Roles& r, Tensor& out) {
  const Operand x = operand(c.input(0), l.inputs[0], l.sizes);
  const Operand y = operand(c.input(1), l.inputs[1], l.sizes);
  GemmShape s;
  s.m = einsum::product(r.left, l.sizes);
  s.n = einsum::product(r.right, l.sizes);
  s.k = einsum::product(r.inner, l.sizes);
  s.transpose_a = is_dense(x, einsum::joined(einsum::joined(r.batch, r.inner), r.left), l.sizes);
  s.transpose_b = is_dense(y, einsum::joined(einsum::joined(r.batch, r.right), r.inner), l.sizes);
  auto order = [&](const Labels& outer, bool swapped) {
    return swapped ? einsum::joined(einsum::joined(r.batch, r.inner), outer)
                   : einsum::joined(einsum::joined(r.batch, outer), r.inner);
  };
  const Tensor a = arranged(c, x, order(r.left, s.transpose_a), l.sizes);
  const Tensor b = arranged(c, y, order(r.right, !s.transpose_b), l.sizes);
  const int64_t batches = einsum::product(r.batch, l.sizes);
  if (s.m == 1 && s.n == 1 && s.k == 1) return multiply_elements(c, a, b, out, batches);
  const auto size = static_cast<int64_t>(dtype_size(out.dtype()));
  const double cost = 0.1 * static_cast<double>(s.m * s.n * s.k) + 50;
  c.parallel_for(batches, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      gemm(c, out.dtype(), s, static_cast<const char*>(a.raw()) + i * s.m * s.k * size,
           static_cast<const char*>(b.raw()) + i * s.k * s.n * size,
           static_cast<char*>(out.raw()) + i * s.m * s.n * size);
  });
}

struct Einsum {
  EinsumEquation equation;
  void operator()(KernelContext& c) const {
    std::vector<Shape> shapes;
    for (int i = 0; i < c.num_inputs(); ++i) shapes.push_back(c.input(i).shape());
    const EinsumLabels l = label_einsum(equation, shapes);
    Shape shape;
    for (int label : l.output) shape.push_back(l.sizes.at(label));
    checked_elements(shape.dims());
    Tensor& out = c.output(0, shape);
    if (out.num_elements() == 0) return;
    if (c.num_inputs() == 1) return one(c, l, out);
    const Roles roles(l);
    const Labels order = einsum::joined(einsum::joined(roles.batch, roles.left), roles.right);
    if (order == l.output) return multiply(c, l, roles, out);
    Tensor product_of = c.temp(out.dtype(), Shape{einsum::product(order, l.sizes)});
    multiply(c, l, roles, product_of);
    put(c, product_of, order, l.output, l.sizes, out);
  }
  static void one(KernelContext& c, const EinsumLabels& l, Tensor& out) {
    const Labels unique = once(l.output);
    const Operand x = operand(c.input(0), l.inputs[0], l.sizes);
    put(c, arranged(c, x, unique, l.sizes), unique, l.output, l.sizes, out);
  }
};

Prepared make_einsum(const KernelInit& init) {
  return prepared(Einsum{parse_einsum(init.attr<std::string>("equation"))});
}

}  // namespace

std::vector<KernelRow> einsum_kernels() {
  return {{"Einsum", "CPU", {{"T", List::dtypes()}}, {}, make_einsum, {}, 0, ""}};
}

}  // namespace emplace::cpu
