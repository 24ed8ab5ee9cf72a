#include <fmt/format.h>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {
namespace {

// The last two dimensions of both as one product.
GemmShape checked_shape(const Shape& a, const Shape& b, bool ta, bool tb) {
  const int64_t rows_a = a[a.rank() - 2], columns_a = a[a.rank() - 1];
  const int64_t rows_b = b[b.rank() - 2], columns_b = b[b.rank() - 1];
  GemmShape s;
  s.transpose_a = ta;
  s.transpose_b = tb;
  s.m = ta ? columns_a : rows_a;
  s.k = ta ? rows_a : columns_a;
  s.n = tb ? rows_b : columns_b;
  if (s.k != (tb ? columns_b : rows_b))
    throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.str(),
                                       b.str()));
  return s;
}

struct MatMul {
  bool transpose_a, transpose_b;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != 2 || b.rank() != 2)
      throw invalid_argument(fmt::format("In[0] and In[1] ndims must be == 2: {}", a.rank()));
    const GemmShape s = checked_shape(a.shape(), b.shape(), transpose_a, transpose_b);
    Tensor& out = c.output(0, Shape{s.m, s.n});
    gemm(c, a.dtype(), s, a.raw(), b.raw(), out.raw());
  }
};

Prepared make_matmul(const KernelInit& init) {
  return prepared(MatMul{init.attr<bool>("transpose_a"), init.attr<bool>("transpose_b")});
}

Shape leading(const Tensor& t) {
  if (t.rank() < 2)
    throw invalid_argument("In[0] and In[1] ndims must be >= 2: " + t.shape().str());
  return Shape(t.shape().dims().first(static_cast<size_t>(t.rank() - 2)));
}

// Batches one after another; each product shares out its own rows.
struct BatchMatMul {
  bool adjoint_a, adjoint_b, broadcasts;
  void operator()(KernelContext& c) const { multiply(c, c.input(0), c.input(1)); }
  void multiply(KernelContext& c, const Tensor& a, const Tensor& b) const {
    const Shape lead_a = leading(a), lead_b = leading(b);
    if (!broadcasts && !(lead_a == lead_b))
      throw invalid_argument(fmt::format("In[0] and In[1] must have compatible batch dimensions: "
                                         "{} vs. {}", a.shape().str(), b.shape().str()));
    GemmShape s = checked_shape(a.shape(), b.shape(), adjoint_a, adjoint_b);
    s.conjugate_a = adjoint_a && is_complex(a.dtype());
    s.conjugate_b = adjoint_b && is_complex(a.dtype());
    const Broadcast way(lead_a, lead_b);
    Shape shape = way.shape();
    shape.push_back(s.m);
    shape.push_back(s.n);
    Tensor& out = c.output(0, shape);
    run(c, s, way, a, b, out);
  }
  static void run(KernelContext& c, const GemmShape& s, const Broadcast& way, const Tensor& a,
                  const Tensor& b, Tensor& out) {
    const auto size = static_cast<int64_t>(dtype_size(a.dtype()));
    const int64_t step_a = s.m * s.k * size, step_b = s.k * s.n * size, step = s.m * s.n * size;
    auto one = [&](int64_t i, int64_t ia, int64_t ib) {
      gemm(c, a.dtype(), s, static_cast<const char*>(a.raw()) + ia * step_a,
           static_cast<const char*>(b.raw()) + ib * step_b,
           static_cast<char*>(out.raw()) + i * step);
    };
    const int64_t inner = way.inner();
    const double cost = 0.1 * static_cast<double>(s.m * s.n * s.k) + 50;
    c.parallel_for(way.rows() * inner, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        way.for_rows(i / inner, i / inner + 1, [&](const auto& at, int64_t) {
          const int64_t k = i % inner;
          one(i, at[0] + k * way.inner_stride(0), at[1] + k * way.inner_stride(1));
        });
    });
  }
};

BatchMatMul batch_of(const KernelInit& init) {
  return {init.attr<bool>("adj_x"), init.attr<bool>("adj_y"), init.op->name != "BatchMatMul"};
}
Prepared make_batch(const KernelInit& init) { return prepared(batch_of(init)); }

// Factors of bytes, as products of their result's dtype.
using Narrow = Types<int8_t, uint8_t, Bfloat16>;
struct MixedMatMul {
  BatchMatMul batch;
  void operator()(KernelContext& c) const {
    const DType wide = c.output_type(0);
    batch.multiply(c, widened(c.input(0), wide), widened(c.input(1), wide));
  }
  static Tensor widened(const Tensor& t, DType wide) {
    if (t.dtype() == wide) return t;
    Tensor result(wide, t.shape());
    visit_dtype(t.dtype(), Narrow{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        if (wide == DType::kInt32)
          result.data<int32_t>()[i] = static_cast<int32_t>(static_cast<float>(t.data<T>()[i]));
        else result.data<Bfloat16>()[i] = Bfloat16(static_cast<float>(t.data<T>()[i]));
      }
    });
    return result;
  }
};
Prepared make_mixed(const KernelInit& init) { return prepared(MixedMatMul{batch_of(init)}); }

}  // namespace

std::vector<KernelRow> matmul_kernels() {
  std::vector<KernelRow> rows = {
      {"MatMul", "CPU", {{"T", Numbers::dtypes()}}, {}, make_matmul, {}, 0, ""},
      {"BatchMatMul", "CPU", {{"T", Numbers::dtypes()}}, {}, make_batch, {}, 0, ""},
      {"BatchMatMulV2", "CPU", {{"T", Numbers::dtypes()}}, {}, make_batch, {}, 0, ""}};
  using enum DType;
  for (DType t :
       {kBfloat16, kHalf, kFloat, kDouble, kInt16, kInt32, kInt64, kComplex64, kComplex128})
    rows.push_back({"BatchMatMulV3", "CPU", {{"Ta", {t}}, {"Tb", {t}}, {"Tout", {t}}}, {},
                    make_batch, {}, 0, ""});
  const std::vector<DType> bytes = {kInt8, kUint8};
  auto mixed = [&](std::vector<DType> a, std::vector<DType> b, DType out) {
    rows.push_back({"BatchMatMulV3", "CPU",
                    {{"Ta", std::move(a)}, {"Tb", std::move(b)}, {"Tout", {out}}}, {}, make_mixed,
                    {}, 0, ""});
  };
  mixed(bytes, bytes, kInt32);
  mixed(bytes, {kBfloat16}, kBfloat16);
  mixed({kBfloat16}, bytes, kBfloat16);
  return rows;
}

}  // namespace emplace::cpu
