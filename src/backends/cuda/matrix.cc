// Equations, determinants, eigenvalues and singular values: device/matrix.cuh.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// A tensor seen as matrices.
struct Matrices {
  Shape lead;
  int64_t count = 1, rows = 0, columns = 0;
  explicit Matrices(const Tensor& t, int input = 0) {
    if (t.rank() < 2)
      throw invalid_argument(
          fmt::format("Input tensor {} must have rank >= 2, got {}", input, t.rank()));
    lead = Shape(t.shape().dims().first(static_cast<size_t>(t.rank() - 2)));
    count = lead.num_elements();
    rows = t.dim(t.rank() - 2);
    columns = t.dim(t.rank() - 1);
  }
  Matrices& square() {
    if (rows != columns) throw invalid_argument("Input matrix must be square.");
    return *this;
  }
  Shape with(std::initializer_list<int64_t> dims) const {
    Shape s = lead;
    for (int64_t d : dims) s.push_back(d);
    return s;
  }
};

// Numbers as device/matrix.cuh computes in.
struct Wide {
  std::string types;  // "float, double"
  size_t size;
  explicit Wide(DType t) {
    const bool complex = t == DType::kComplex64 || t == DType::kComplex128;
    types = fmt::format("{}, {}", device_type(t), complex ? "c128" : "double");
    size = complex ? 16 : 8;
  }
};

Grid block_each(int64_t count) {
  Grid g;
  g.x = static_cast<unsigned>(count);
  return g;
}

struct Kernel {
  Gpu* gpu;
  CUfunction f;
  size_t size;  // of a number there
  Kernel(const KernelInit& init, const char* name, const std::string& more = "")
      : gpu(&gpu_of(*init.device)) {
    const Wide w(init.input_types[0]);
    size = w.size;
    f = gpu->jit().get("matrix", fmt::format("{}<{}{}>", name, w.types, more));
  }
  // Memory for so many numbers, and so many bytes behind them.
  char* work(int64_t numbers, size_t bytes = 0) const {
    return static_cast<char*>(gpu->workspace(static_cast<size_t>(numbers) * size + bytes));
  }
};

struct Cholesky {
  Kernel k;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m = Matrices(in).square();
    Tensor& out = c.output(0, in.shape());
    if (out.num_elements() > 0)
      launch_kernel(*k.gpu, k.f, block_each(m.count), out.raw(), in.raw(),
                    k.work(out.num_elements()), m.rows);
  }
};
Prepared make_cholesky(const KernelInit& init) {
  return prepared(Cholesky{Kernel(init, "cholesky")});
}

struct Lu {
  Kernel k;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m = Matrices(in).square();
    Tensor &out = c.output(0, in.shape()), &order = c.output(1, m.with({m.rows}));
    const int64_t n = out.num_elements();
    if (n == 0) return;
    char* const work = k.work(n, static_cast<size_t>(order.num_elements()) * 8);
    launch_kernel(*k.gpu, k.f, block_each(m.count), out.raw(), order.raw(), in.raw(), work,
                  work + static_cast<size_t>(n) * k.size, m.rows);
  }
};
Prepared make_lu(const KernelInit& init) {
  return prepared(Lu{Kernel(init, "lu", fmt::format(", {}", device_type(init.output_types[1])))});
}

struct Determinant {
  Kernel k;
  bool logs;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m = Matrices(in).square();
    Tensor& out = c.output(0, m.lead);
    void* const log_out = logs ? c.output(1, m.lead).raw() : nullptr;
    if (out.num_elements() > 0)
      launch_kernel(*k.gpu, k.f, block_each(m.count), out.raw(), log_out, in.raw(),
                    k.work(std::max<int64_t>(1, in.num_elements())), m.rows);
  }
};
Prepared make_determinant(const KernelInit& init) {
  const bool logs = init.op->name == "LogMatrixDeterminant";
  return prepared(Determinant{Kernel(init, "determinant", logs ? ", true" : ", false"), logs});
}

// MatrixInverse, and MatrixSolve with its right side.
struct Solve {
  Kernel k;
  bool adjoint;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m = Matrices(in).square();
    const bool inverse = c.num_inputs() == 1;
    const Tensor& b = inverse ? in : c.input(1);
    const Matrices right(b, 1);
    if (!(right.lead == m.lead))
      throw invalid_argument("All input tensors must have the same outer dimensions.");
    if (right.rows != m.rows) throw invalid_argument("Input matrix and rhs are incompatible.");
    Tensor& out = c.output(0, b.shape());
    if (out.num_elements() == 0) return;
    const int64_t numbers = in.num_elements() + out.num_elements();
    const BufferPtr memory = scratch(*k.gpu, static_cast<size_t>(numbers) * k.size + 16);
    char* const work = static_cast<char*>(memory->data());
    char* const bad = work + static_cast<size_t>(numbers) * k.size;
    check(cudaMemsetAsync(bad, 0, 4, k.gpu->stream()), "filling with zeros");
    launch_kernel(*k.gpu, k.f, block_each(m.count), out.raw(), in.raw(),
                  inverse ? nullptr : b.raw(), work, bad, m.rows, right.columns, adjoint);
    read_number_then<int32_t>(c, *k.gpu, bad, [inverse](KernelContext&, int32_t found) {
      if (found)
        throw invalid_argument(inverse ? "Input is not invertible."
                                       : "Input matrix is not invertible.");
    });
  }
};
Prepared make_solve(const KernelInit& init) {
  return prepared(Solve{Kernel(init, "solve"), init.attr<bool>("adjoint")});
}

struct Triangle {
  Kernel k;
  bool lower, adjoint;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &b = c.input(1);
    const Matrices left(in, 0), right(b, 1);
    if (left.rows != left.columns)
      throw invalid_argument(
          fmt::format("In[0] matrices in the last dimensions must be square ({} =/= {})", left.rows,
                      left.columns));
    if (left.rows != right.rows)
      throw invalid_argument(fmt::format("In[0] mismatch In[1] shape: {} vs. {}: {} {} {} {}",
                                         left.rows, right.rows, in.shape().str(), b.shape().str(),
                                         lower, adjoint));
    const Shape batch = broadcast_shape(left.lead, right.lead);
    Shape shape = batch;
    shape.push_back(right.rows);
    shape.push_back(right.columns);
    Tensor& out = c.output(0, shape);
    if (out.num_elements() == 0) return;
    const int64_t count = batch.num_elements();
    launch_kernel(*k.gpu, k.f, block_each(count), out.raw(), in.raw(), b.raw(),
                  k.work(count * left.rows * left.rows + out.num_elements()), left.rows,
                  right.columns, lower, adjoint,
                  broadcast_strides(batch, {&left.lead, &right.lead}));
  }
};
Prepared make_triangle(const KernelInit& init) {
  return prepared(
      Triangle{Kernel(init, "triangle"), init.attr<bool>("lower"), init.attr<bool>("adjoint")});
}

constexpr size_t kTurnBytes = 32;  // of device/matrix.cuh's Turn, at most

struct SelfAdjoint {
  Kernel k;
  bool vectors;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m = Matrices(in).square();
    Tensor& values = c.output(0, m.with({m.rows}));
    Tensor& v = c.output(1, vectors ? in.shape() : Shape{0});
    if (values.num_elements() == 0) return;
    const int64_t numbers = 2 * in.num_elements();
    char* const work = k.work(numbers, static_cast<size_t>(m.count * (m.rows + 1)) * kTurnBytes);
    launch_kernel(*k.gpu, k.f, block_each(m.count), values.raw(), vectors ? v.raw() : nullptr,
                  in.raw(), work, work + static_cast<size_t>(numbers) * k.size, m.rows);
  }
};
Prepared make_self_adjoint(const KernelInit& init) {
  return prepared(SelfAdjoint{Kernel(init, "self_adjoint"), init.attr<bool>("compute_v")});
}

struct Singular {
  Kernel tall, wide;
  bool vectors, full;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Matrices m(in);
    const bool flip = m.rows < m.columns;
    const int64_t large = std::max(m.rows, m.columns), small = std::min(m.rows, m.columns);
    Tensor& s = c.output(0, m.with({small}));
    auto vectors_of = [&](int64_t n) { return vectors ? m.with({n, full ? n : small}) : Shape{0}; };
    Tensor &u = c.output(1, vectors_of(m.rows)), &v = c.output(2, vectors_of(m.columns));
    if (s.num_elements() == 0) {
      for (Tensor* t : {&u, &v})  // of nothing: the identity
        if (const int64_t n = t->num_elements())
          launch_kernel(
              *tall.gpu,
              tall.gpu->jit().get("matrix", fmt::format("identity<{}>", device_type(t->dtype()))),
              grid_for(*tall.gpu, n), t->raw(), n, t->dim(t->rank() - 1));
      return;
    }
    const int64_t left = full ? large : small;
    const int64_t numbers = m.count * (large * small + small * small + large * left);
    char* const work = tall.work(numbers, static_cast<size_t>(m.count * (small + 1)) * kTurnBytes);
    launch_kernel(*tall.gpu, flip ? wide.f : tall.f, block_each(m.count), s.raw(),
                  vectors ? u.raw() : nullptr, vectors ? v.raw() : nullptr, in.raw(), work,
                  work + static_cast<size_t>(numbers) * tall.size, large, small, left);
  }
};
Prepared make_singular(const KernelInit& init) {
  return prepared(Singular{Kernel(init, "singular", ", false"), Kernel(init, "singular", ", true"),
                           init.attr<bool>("compute_uv"), init.attr<bool>("full_matrices")});
}

// ---- Three diagonals.

struct TridiagonalSolve {
  Kernel k;
  void operator()(KernelContext& c) const {
    const Tensor &diagonals = c.input(0), &b = c.input(1);
    const Matrices left(diagonals, 0), right(b, 1);
    if (left.rows != 3)
      throw invalid_argument(fmt::format("Expected diagonals to have 3 rows, got {}", left.rows));
    if (!(left.lead == right.lead) || left.columns != right.rows)
      throw invalid_argument("The diagonals and the right-hand side do not fit");
    Tensor& out = c.output(0, b.shape());
    if (const int64_t n = out.num_elements())
      launch_kernel(*k.gpu, k.f, grid_for(*k.gpu, left.count * right.columns), out.raw(),
                    diagonals.raw(), b.raw(), k.work(4 * n), left.count, left.columns,
                    right.columns);
  }
};
Prepared make_tridiagonal_solve(const KernelInit& init) {
  const AttrValue* pivot = init.find("partial_pivoting");
  return prepared(TridiagonalSolve{
      Kernel(init, "tridiagonal_solve", !pivot || pivot->as<bool>() ? ", true" : ", false")});
}

struct TridiagonalProduct {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& b = c.input(3);
    const Matrices right(b, 3);
    for (int i = 0; i < 3; ++i)
      if (c.input(i).num_elements() != right.count * right.rows)
        throw invalid_argument(
            "Each diagonal must have a number for each row of the right-hand side");
    Tensor& out = c.output(0, b.shape());
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(0).raw(), c.input(1).raw(),
                    c.input(2).raw(), b.raw(), n, right.rows, right.columns);
  }
};
Prepared make_tridiagonal_product(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(TridiagonalProduct{
      &gpu, gpu.jit().get("matrix",
                          fmt::format("tridiagonal_product<{}>", device_type(init.type("T"))))});
}

}  // namespace

std::vector<KernelRow> matrix_kernels() {
  using enum DType;
  const TypeConstraint numbers{"T", {kFloat, kDouble, kComplex64, kComplex128}};
  std::vector<KernelRow> rows = {cuda_row("MatrixInverse", make_solve, {numbers}),
                                 cuda_row("MatrixSolve", make_solve, {numbers})};
  for (KernelRow& row : rows) row.traits.replays = false;  // the card tells the host how it went
  rows.push_back(cuda_row("Cholesky", make_cholesky, {numbers}));
  rows.push_back(cuda_row("Lu", make_lu, {numbers}));
  rows.push_back(cuda_row("MatrixDeterminant", make_determinant, {numbers}));
  rows.push_back(cuda_row("LogMatrixDeterminant", make_determinant, {numbers}));
  rows.push_back(cuda_row("MatrixTriangularSolve", make_triangle, {numbers}));
  rows.push_back(cuda_row("BatchMatrixTriangularSolve", make_triangle, {numbers}));
  rows.push_back(cuda_row("SelfAdjointEigV2", make_self_adjoint, {numbers}));
  rows.push_back(cuda_row("Svd", make_singular, {numbers}));
  rows.push_back(cuda_row("BatchSvd", make_singular, {numbers}));
  rows.push_back(cuda_row("TridiagonalSolve", make_tridiagonal_solve, {numbers}));
  rows.push_back(cuda_row("TridiagonalMatMul", make_tridiagonal_product, {numbers}));
  return rows;
}

}  // namespace emplace::cuda
