#include "backends/cpu/elementwise.h"

namespace emplace::cpu {
namespace {

constexpr double kAlone = 20'000;  // ns: below this, a call is not worth cutting up

const char* at(const void* p, int64_t elements, size_t size) {
  return static_cast<const char*>(p) + elements * static_cast<int64_t>(size);
}
char* at(void* p, int64_t elements, size_t size) {
  return static_cast<char*>(p) + elements * static_cast<int64_t>(size);
}

// The output of a call whose shapes were known when it was prepared: what is planned fits.
Tensor& fitting_output(KernelContext& c, const Shape& shape) {
  return c.site_->planned & 1 ? c.output_slot(0) : c.output(0, shape);
}

// ---- Unary.

struct Unary {
  UnaryLoop loop;
  double cost;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    run_unary(c, loop, cost, in, c.output(0, in.shape()));
  }
};

struct SmallUnary {
  UnaryLoop loop;
  int64_t n;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    loop(in.raw(), fitting_output(c, in.shape()).raw(), n);
  }
};

// ---- Binary.

// One run over both operands, small enough for this thread.
struct SmallFlat {
  BinaryLoop loop;
  int64_t step_a, step_b, n;
  Shape shape;
  void operator()(KernelContext& c) const {
    loop(c.input(0).raw(), step_a, c.input(1).raw(), step_b, fitting_output(c, shape).raw(), n);
  }
};

void run_rows(const Broadcast& way, BinaryLoop loop, const Tensor& a, const Tensor& b, Tensor& out,
              int64_t begin, int64_t end) {
  const size_t size = dtype_size(a.dtype()), size_out = dtype_size(out.dtype());
  const int64_t inner = way.inner(), step_a = way.inner_stride(0), step_b = way.inner_stride(1);
  way.for_rows(begin, end, [&](const auto& offsets, int64_t row) {
    loop(at(a.raw(), offsets[0], size), step_a, at(b.raw(), offsets[1], size), step_b,
         at(out.raw(), row * inner, size_out), inner);
  });
}

void run_flat(KernelContext& c, const Broadcast& way, BinaryLoop loop, double cost, const Tensor& a,
              const Tensor& b, Tensor& out) {
  const size_t size = dtype_size(a.dtype()), size_out = dtype_size(out.dtype());
  const int64_t step_a = way.inner_stride(0), step_b = way.inner_stride(1);
  c.parallel_for(way.inner(), cost, [&](int64_t begin, int64_t end) {
    loop(at(a.raw(), begin * step_a, size), step_a, at(b.raw(), begin * step_b, size), step_b,
         at(out.raw(), begin, size_out), end - begin);
  });
}

void run_way(KernelContext& c, const Broadcast& way, BinaryLoop loop, double cost, const Tensor& a,
             const Tensor& b, Tensor& out) {
  if (out.num_elements() == 0) return;
  if (way.flat()) return run_flat(c, way, loop, cost, a, b, out);
  c.parallel_for(way.rows(), cost * static_cast<double>(way.inner()) + 3,
                 [&](int64_t begin, int64_t end) { run_rows(way, loop, a, b, out, begin, end); });
}

struct StaticBinary {
  Broadcast way;
  BinaryLoop loop;
  double cost;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, way.shape());
    run_way(c, way, loop, cost, c.input(0), c.input(1), out);
  }
};

struct DynamicBinary {
  BinaryLoop loop;
  double cost;
  OperandCheck check;
  bool small(int64_t n) const { return static_cast<double>(n) * cost <= kAlone; }
  void operator()(KernelContext& c) const {
    const Tensor& a = c.input(0);
    const Tensor& b = c.input(1);
    if (!check && small(a.num_elements()) && small(b.num_elements())) {
      if (a.shape() == b.shape())
        return loop(a.raw(), 1, b.raw(), 1, c.output(0, a.shape()).raw(), a.num_elements());
      if (b.rank() == 0)
        return loop(a.raw(), 1, b.raw(), 0, c.output(0, a.shape()).raw(), a.num_elements());
      if (a.rank() == 0)
        return loop(a.raw(), 0, b.raw(), 1, c.output(0, b.shape()).raw(), b.num_elements());
    }
    const Broadcast way(a.shape(), b.shape());
    if (check && way.rows() > 0) check(b);
    run_way(c, way, loop, cost, a, b, c.output(0, way.shape()));
  }
};

}  // namespace

void run_unary(KernelContext& c, UnaryLoop loop, double cost, const Tensor& in, Tensor& out) {
  if (static_cast<double>(in.num_elements()) * cost <= kAlone)
    return loop(in.raw(), out.raw(), in.num_elements());
  const size_t size_in = dtype_size(in.dtype()), size_out = dtype_size(out.dtype());
  c.parallel_for(in.num_elements(), cost, [&](int64_t begin, int64_t end) {
    loop(at(in.raw(), begin, size_in), at(out.raw(), begin, size_out), end - begin);
  });
}

void run_binary(KernelContext& c, BinaryLoop loop, double cost, const Tensor& a, const Tensor& b,
                Tensor& out) {
  run_way(c, Broadcast(a.shape(), b.shape()), loop, cost, a, b, out);
}

Prepared prepare_unary(const KernelInit& init, UnaryLoop loop, double cost) {
  if (!init.static_shapes()) return prepared(Unary{loop, cost});
  const int64_t n = init.input_shapes[0].num_elements();
  if (static_cast<double>(n) * cost > kAlone) return prepared(Unary{loop, cost});
  return prepared(SmallUnary{loop, n});
}

Prepared prepare_binary(const KernelInit& init, BinaryLoop loop, double cost, OperandCheck check) {
  if (!init.static_shapes() || check) return prepared(DynamicBinary{loop, cost, check});
  Broadcast way(init.input_shapes[0], init.input_shapes[1]);
  const int64_t n = way.shape().num_elements();
  if (!way.flat() || static_cast<double>(n) * cost > kAlone)
    return prepared(StaticBinary{way, loop, cost});
  return prepared(SmallFlat{loop, way.inner_stride(0), way.inner_stride(1), n, way.shape()});
}

}  // namespace emplace::cpu
