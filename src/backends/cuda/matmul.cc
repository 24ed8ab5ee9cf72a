// Products of matrices, by cuBLASLt: an algorithm is chosen once a shape, when the plan is made if
// shapes are known then.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/product.h"
#include "backends/cuda/trial.h"

namespace emplace::cuda {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;
constexpr float kClearly = 0.98f;
constexpr int kTrials = 20;
// Multiplications above which a product is large: a card that goes on for long lowers its clock, so its
// candidates take turns and are compared in like weather. Above the second they are not tried.
constexpr int64_t kLarge = int64_t{1} << 34, kMostTried = int64_t{1} << 40;
constexpr size_t kMostCandidates = 8;  // of a large one
constexpr int kTurns = 4;              // the first warms up
constexpr float kLaunchMs = 0.002f;  // what a small kernel more takes in a recording

cudaDataType_t data_type(DType t) {
  switch (t) {
    case DType::kFloat: return CUDA_R_32F;
    case DType::kDouble: return CUDA_R_64F;
    case DType::kHalf: return CUDA_R_16F;
    case DType::kBfloat16: return CUDA_R_16BF;
    case DType::kComplex64: return CUDA_C_32F;
    case DType::kComplex128: return CUDA_C_64F;
    default: throw unimplemented("matrix product of this dtype");
  }
}

cublasComputeType_t compute_type(DType t) {
  switch (t) {
    case DType::kDouble:
    case DType::kComplex128: return CUBLAS_COMPUTE_64F;
    case DType::kFloat:
    case DType::kComplex64:
      return tf32_allowed() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    default: return CUBLAS_COMPUTE_32F;
  }
}

// What a product does on the way out.
enum class After { kNothing, kBias, kBiasRelu };

struct Problem {
  int64_t m, n, k, batch;  // row-major: [m, k] x [k, n]
  int64_t stride_a, stride_b;
  auto operator<=>(const Problem&) const = default;
};

// Small enough for device/matmul.cuh's kernel to be done before a library's has begun.
bool is_small(DType dtype, const Problem& p) {
  return dtype == DType::kFloat && p.batch == 1 && p.k <= 256 && p.m * p.n <= 64 * 64 &&
         p.m * p.n * p.k <= 64 * 64 * 128;
}
class SmallProduct {
 public:
  SmallProduct(Gpu& gpu, bool ta, bool tb, After after, const Problem& p)
      : f_(gpu.jit().get("matmul", fmt::format("small_product<{}, {}, {}, {}>", ta, tb,
                                               static_cast<int>(after), p.k))),
        m_(static_cast<int32_t>(p.m)),
        n_(static_cast<int32_t>(p.n)) {}
  void run(Gpu& gpu, void* out, const void* a, const void* b, const void* bias) const {
    Grid g;
    g.x = static_cast<unsigned>((n_ + 7) / 8);
    g.y = static_cast<unsigned>((m_ + 7) / 8);
    g.block_x = 64;
    launch_early(gpu, f_, g, out, a, b, bias, m_, n_);
  }

 private:
  CUfunction f_;
  int32_t m_, n_;
};

// A chosen algorithm with its descriptions.
class Product {
 public:
  // `tune`: candidates are tried, which takes some milliseconds; not while a recording is made.
  Product(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb, After after, const Problem& p,
          bool tune)
      : dtype_(dtype),
        size_(dtype_size(dtype)),
        wide_(dtype == DType::kDouble || dtype == DType::kComplex128),
        tune_(tune),
        after_(after) {
    if (is_small(dtype, p)) {
      small_.emplace(gpu, ta, tb, after, p);
      return;
    }
    const cudaDataType_t type = data_type(dtype);
    const cudaDataType_t scale = dtype == DType::kHalf || dtype == DType::kBfloat16 ? CUDA_R_32F
                                                                                     : type;
    check(cublasLtMatmulDescCreate(&op_, compute_type(dtype), scale), "cuBLASLt");
    // Rows for us are columns for cuBLAS: it computes Cᵀ = Bᵀ Aᵀ.
    const auto a_op = operation(ta, ca), b_op = operation(tb, cb);
    set(CUBLASLT_MATMUL_DESC_TRANSA, b_op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a_op);
    if (after == After::kBias) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (after == After::kBiasRelu) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
    b_ = layout(type, tb ? p.k : p.n, tb ? p.n : p.k, p.batch, p.stride_b);
    a_ = layout(type, ta ? p.m : p.k, ta ? p.k : p.m, p.batch, p.stride_a);
    c_ = layout(type, p.n, p.m, p.batch, p.m * p.n);
    choose(gpu, p);
  }
  ~Product() {
    for (cublasLtMatrixLayout_t l : {a_, b_, c_})
      if (l) cublasLtMatrixLayoutDestroy(l);
    if (op_) cublasLtMatmulDescDestroy(op_);
  }
  Product(const Product&) = delete;

  // Milliseconds of one, where candidates were tried; else 0.
  float time() const { return ms_; }
  void run(Gpu& gpu, void* out, const void* a, const void* b, const void* bias = nullptr) const {
    if (small_) return small_->run(gpu, out, a, b, bias);
    void* const work = algo_.workspaceSize ? gpu.workspace(algo_.workspaceSize) : nullptr;
    check(multiply(gpu, out, a, b, bias, algo_, work, gpu.stream()), "multiplying matrices");
  }

 private:
  static cublasOperation_t operation(bool transpose, bool conjugate) {
    return transpose ? conjugate ? CUBLAS_OP_C : CUBLAS_OP_T : CUBLAS_OP_N;
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, T value) const {
    check(cublasLtMatmulDescSetAttribute(op_, what, &value, sizeof value), "cuBLASLt");
  }
  static cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t columns,
                                       int64_t batch, int64_t stride) {
    cublasLtMatrixLayout_t l;
    check(cublasLtMatrixLayoutCreate(&l, type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), rows),
          "cuBLASLt");
    if (batch > 1) {
      const auto count = static_cast<int32_t>(batch);
      cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
      cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                       sizeof stride);
    }
    return l;
  }
  void choose(Gpu& gpu, const Problem& p) {
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "cuBLASLt");
    check(cublasLtMatmulPreferenceSetAttribute(preference,
                                               CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspace, sizeof kWorkspace),
          "cuBLASLt");
    int found = 0;
    std::array<cublasLtMatmulHeuristicResult_t, 32> candidates{};
    const cublasStatus_t result = cublasLtMatmulAlgoGetHeuristic(
        gpu.blas(), op_, b_, a_, c_, c_, preference, static_cast<int>(candidates.size()),
        candidates.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (result != CUBLAS_STATUS_SUCCESS || found == 0)
      throw unimplemented(fmt::format("cuBLASLt has no way to multiply [{}, {}] by [{}, {}]", p.m,
                                      p.k, p.k, p.n));
    algo_ = candidates[0];
    if (found > 1 && tune_ && p.m * p.n * p.k * p.batch <= kMostTried)
      race(gpu, p, {candidates.data(), static_cast<size_t>(found)});
  }

  // Tries the candidates on memory of their own and keeps the fastest.
  void race(Gpu& gpu, const Problem& p, std::span<const cublasLtMatmulHeuristicResult_t> all) {
    const auto size = static_cast<int64_t>(size_);
    const int64_t batch = std::max<int64_t>(1, p.batch);
    BufferPtr memory;
    try {
      memory = gpu.allocate(static_cast<size_t>((p.m * p.k + p.k * p.n + p.m * p.n) * batch * size +
                                                1024 + static_cast<int64_t>(kWorkspace)),
                            "trying matrix products");
    } catch (const Error&) {
      return;  // no room: the first will do
    }
    char* const a = static_cast<char*>(memory->data());
    auto up = [](int64_t x) { return (x + 255) / 256 * 256; };
    char* const b = a + up(p.m * p.k * batch * size);
    char* const out = b + up(p.k * p.n * batch * size);
    char* const work = out + up(p.m * p.n * batch * size);
    Trial trial;
    fill_with_noise(gpu, a, static_cast<size_t>(out - a), dtype_, trial.stream());
    auto multiply_with = [&](const cublasLtMatmulHeuristicResult_t& candidate) {
      return [&, candidate] {
        return multiply(gpu, out, a, b, a, candidate, work, trial.stream()) ==
               CUBLAS_STATUS_SUCCESS;
      };
    };
    const bool large = p.m * p.n * p.k * batch > kLarge;
    if (large) all = all.first(std::min(all.size(), kMostCandidates));
    std::vector<float> ms(all.size(), INFINITY);
    for (int turn = 0; turn < (large ? kTurns : 1); ++turn)
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].state != CUBLAS_STATUS_SUCCESS) continue;
        const float now = large ? trial.time_once(multiply_with(all[i]))
                                : trial.time(kTrials, multiply_with(all[i]));
        if (!large || turn > 0) ms[i] = std::min(ms[i], now);
      }
    ms_ = INFINITY;
    for (size_t i = 0; i < all.size(); ++i)
      if (ms[i] < ms_ * (large ? 1 : kClearly)) {  // cuBLAS has its own reasons for its order
        ms_ = ms[i];
        algo_ = all[i];
      }
  }

  cublasStatus_t multiply(Gpu& gpu, void* out, const void* a, const void* b, const void* bias,
                          const cublasLtMatmulHeuristicResult_t& algo, void* work,
                          cudaStream_t stream) const {
    std::unique_lock<std::mutex> lock;  // the bias is part of the description
    if (after_ != After::kNothing) {
      lock = std::unique_lock(mutex_);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    // Large enough for every scale type: 1 and 0 in the first bytes.
    static constexpr float kOne[4] = {1, 0, 0, 0}, kZero[4] = {};
    static constexpr double kOneD[2] = {1, 0}, kZeroD[2] = {};
    const void *one = wide_ ? static_cast<const void*>(kOneD) : kOne;
    const void *zero = wide_ ? static_cast<const void*>(kZeroD) : kZero;
    return cublasLtMatmul(gpu.blas(), op_, one, b, b_, a, a_, zero, out, c_, out, c_, &algo.algo,
                          work, algo.workspaceSize, stream);
  }

  std::optional<SmallProduct> small_;
  cublasLtMatmulDesc_t op_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulHeuristicResult_t algo_{};
  float ms_ = 0;
  const DType dtype_;
  const size_t size_;
  const bool wide_, tune_;
  const After after_;
  mutable std::mutex mutex_;
};

// Products by shape, shared by all nodes of a card that multiply alike.
class Products {
 public:
  static std::shared_ptr<Products> of(Gpu& gpu, DType dtype, bool ta, bool tb, bool adjoint,
                                      After after = After::kNothing) {
    const std::string name = fmt::format("matmul {} {} {} {} {} {}", dtype_name(dtype), ta, tb,
                                         adjoint, static_cast<int>(after), tf32_allowed());
    return std::static_pointer_cast<Products>(gpu.shared(name, [&] {
      return std::make_shared<Products>(gpu, dtype, ta, tb, adjoint, adjoint, after);
    }));
  }
  Products(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb, After after)
      : gpu_(gpu), dtype_(dtype), ta_(ta), tb_(tb), ca_(ca), cb_(cb), after_(after) {}
  const Product& get(const Problem& p, bool tune = false) {
    const std::lock_guard lock(mutex_);
    auto& slot = products_[p];
    if (!slot) slot = 
          std::make_unique<Product>(gpu_, dtype_, ta_, tb_, ca_, cb_, after_, p, tune);
    return *slot;
  }

 private:
  Gpu& gpu_;
  const DType dtype_;
  const bool ta_, tb_, ca_, cb_;
  const After after_;
  std::mutex mutex_;
  std::map<Problem, std::unique_ptr<Product>> products_;
};

struct MatMul {
  Gpu* gpu;
  bool ta, tb;
  std::shared_ptr<Products> products;

  Problem problem(const Shape& a, const Shape& b) const {
    const int64_t m = a[ta], k = a[!ta], k2 = b[tb], n = b[!tb];
    if (k != k2)
      throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.str(),
                                         b.str()));
    return {m, n, k, 1, 0, 0};
  }
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != 2 || b.rank() != 2)
      throw invalid_argument(
          fmt::format("In[0] and In[1] has different ndims: {} vs. {}", a.shape().str(),
                      b.shape().str()));
    const Problem p = problem(a.shape(), b.shape());
    Tensor& out = c.output(0, Shape{p.m, p.n});
    if (out.num_elements() == 0) return;
    if (p.k == 0)
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), gpu->stream()), "filling");
    products->get(p).run(*gpu, out.raw(), a.raw(), b.raw(),
                         c.num_inputs() > 2 ? c.input(2).raw() : nullptr);
  }
};
Prepared make_matmul_and(const KernelInit& init, After after) {
  Gpu& gpu = gpu_of(*init.device);
  const bool ta = init.attr<bool>("transpose_a"), tb = init.attr<bool>("transpose_b");
  auto products = Products::of(gpu, init.input_types[0], ta, tb, false, after);
  MatMul m{&gpu, ta, tb, products};
  if (init.static_shapes() && init.input_shapes[0].rank() == 2 && init.input_shapes[1].rank() == 2)
    if (const Problem p = m.problem(init.input_shapes[0], init.input_shapes[1]); p.m > 0 && p.n > 0 && p.k > 0)
      products->get(p, true);
  return prepared(std::move(m));
}
Prepared make_matmul(const KernelInit& init) { return make_matmul_and(init, After::kNothing); }
// Milliseconds, of a product that has been prepared.
float time_of(const KernelInit& init, After after) {
  const bool ta = init.attr<bool>("transpose_a"), tb = init.attr<bool>("transpose_b");
  auto products = Products::of(gpu_of(*init.device), init.input_types[0], ta, tb, false, after);
  const MatMul m{nullptr, ta, tb, nullptr};
  return products->get(m.problem(init.input_shapes[0], init.input_shapes[1]), true).time();
}
// With a bias, and relu, behind it. Only for what cuBLASLt does at once: the caller has other ways.
Prepared make_fused_matmul(const KernelInit& init) {
  const DType t = init.input_types[0];
  const auto& ops = init.attr<std::vector<std::string>>("fused_ops");
  const bool floats = t == DType::kFloat || t == DType::kHalf || t == DType::kBfloat16;
  const Shape& out = init.output_shapes[0];
  if (!floats || init.input_shapes[2].num_elements() != out[1])
    throw unimplemented("a product with a bias of this kind");
  const After after = ops.size() > 1 ? After::kBiasRelu : After::kBias;
  Prepared made = make_matmul_and(init, after);
  if (time_of(init, after) > time_of(init, After::kNothing) + kLaunchMs)
    throw unimplemented("a product with a bias that is faster in two");
  return made;
}

struct BatchMatMul {
  Gpu* gpu;
  bool ta, tb;
  std::shared_ptr<Products> products;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() < 2) throw invalid_argument("In[0] ndims must be >= 2: " + a.shape().str());
    if (b.rank() < 2) throw invalid_argument("In[1] ndims must be >= 2: " + b.shape().str());
    const int64_t m = a.dim(a.rank() - (ta ? 1 : 2)), k = a.dim(a.rank() - (ta ? 2 : 1));
    const int64_t k2 = b.dim(b.rank() - (tb ? 1 : 2)), n = b.dim(b.rank() - (tb ? 2 : 1));
    if (k != k2)
      throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}",
                                         a.shape().str(), b.shape().str()));
    auto outer = [](const Tensor& t) {
      std::vector<int64_t> dims;
      for (int d = 0; d + 2 < t.rank(); ++d) dims.push_back(t.dim(d));
      return Shape(dims);
    };
    const Shape batch_a = outer(a), batch_b = outer(b), batch = broadcast_shape(batch_a, batch_b);
    std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
    dims.push_back(m);
    dims.push_back(n);
    Tensor& out = c.output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    if (k == 0)
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), gpu->stream()), "filling");
    const int64_t count = batch.num_elements();
    auto whole = [&](const Shape& s) { return s.num_elements() == count || s.num_elements() == 1; };
    if (whole(batch_a) && whole(batch_b)) {
      const Problem p{m, n, k, count, batch_a.num_elements() == 1 ? 0 : m * k,
                      batch_b.num_elements() == 1 ? 0 : k * n};
      return products->get(p).run(*gpu, out.raw(), a.raw(), b.raw());
    }
    each(out, a, b, batch, batch_a, batch_b, {m, n, k, 1, 0, 0});
  }
  // Batches that are broadcast in part: one product after another.
  void each(Tensor& out, const Tensor& a, const Tensor& b, const Shape& batch, const Shape& batch_a,
            const Shape& batch_b, const Problem& p) const {
    const Strides s = broadcast_strides(batch, {&batch_a, &batch_b});
    const size_t size = dtype_size(out.dtype());
    const Product& product = products->get(p);
    for (int64_t i = 0; i < batch.num_elements(); ++i) {
      int64_t rest = i, at[2] = {0, 0};
      for (int d = s.rank - 1; d >= 0; --d) {
        for (int q = 0; q < 2; ++q) at[q] += rest % s.dims[d] * s.strides[q][d];
        rest /= s.dims[d];
      }
      product.run(*gpu, out.data<char>() + static_cast<size_t>(i * p.m * p.n) * size,
                  a.data<char>() + static_cast<size_t>(at[0] * p.m * p.k) * size,
                  b.data<char>() + static_cast<size_t>(at[1] * p.k * p.n) * size);
    }
  }
};
Prepared make_batch_matmul(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool ta = init.attr<bool>("adj_x"), tb = init.attr<bool>("adj_y");
  return prepared(BatchMatMul{&gpu, ta, tb, Products::of(gpu, init.input_types[0], ta, tb, true)});
}

}  // namespace

void batch_product(Gpu& gpu, DType dtype, void* out, const void* a, const void* b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b) {
  Products::of(gpu, dtype, transpose_a, transpose_b, true)
      ->get({m, n, k, batch, m * k, k * n})
      .run(gpu, out, a, b);
}

std::vector<KernelRow> matmul_kernels() {
  std::vector<DType> types = kFloats;
  types.insert(types.end(), kComplexes.begin(), kComplexes.end());
  return {cuda_row("MatMul", make_matmul, {{"T", types}}),
          cuda_row("_FusedMatMul", make_fused_matmul),
          cuda_row("BatchMatMul", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV2", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV3", make_batch_matmul, {{"Ta", types}})};
}

}  // namespace emplace::cuda
