// Products of matrices, by cuBLASLt: an algorithm is chosen once a shape, when the plan is made if
// shapes are known then.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

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

// float32 products run in TF32, as TensorFlow's do, unless the environment says no.
bool tf32_allowed() {
  const char* text = std::getenv("NVIDIA_TF32_OVERRIDE");
  return !(text && std::string_view(text) == "0");
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

struct Problem {
  int64_t m, n, k, batch;  // row-major: [m, k] x [k, n]
  int64_t stride_a, stride_b;
  auto operator<=>(const Problem&) const = default;
};

// A chosen algorithm with its descriptions.
class Product {
 public:
  // `tune`: candidates are tried, which takes some milliseconds; not while a recording is made.
  Product(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb, const Problem& p, bool tune)
      : size_(dtype_size(dtype)),
        wide_(dtype == DType::kDouble || dtype == DType::kComplex128),
        tune_(tune) {
    const cudaDataType_t type = data_type(dtype);
    const cudaDataType_t scale = dtype == DType::kHalf || dtype == DType::kBfloat16 ? CUDA_R_32F
                                                                                     : type;
    check(cublasLtMatmulDescCreate(&op_, compute_type(dtype), scale), "cuBLASLt");
    // Rows for us are columns for cuBLAS: it computes Cᵀ = Bᵀ Aᵀ.
    const auto a_op = operation(ta, ca), b_op = operation(tb, cb);
    set(CUBLASLT_MATMUL_DESC_TRANSA, b_op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a_op);
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

  void run(Gpu& gpu, void* out, const void* a, const void* b) const {
    void* const work = algo_.workspaceSize ? gpu.workspace(algo_.workspaceSize) : nullptr;
    check(multiply(gpu, out, a, b, algo_, work, gpu.stream()), "multiplying matrices");
  }

 private:
  static cublasOperation_t operation(bool transpose, bool conjugate) {
    return transpose ? conjugate ? CUBLAS_OP_C : CUBLAS_OP_T : CUBLAS_OP_N;
  }
  void set(cublasLtMatmulDescAttributes_t what, cublasOperation_t value) {
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
    std::array<cublasLtMatmulHeuristicResult_t, 16> candidates{};
    const cublasStatus_t result = cublasLtMatmulAlgoGetHeuristic(
        gpu.blas(), op_, b_, a_, c_, c_, preference, static_cast<int>(candidates.size()),
        candidates.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (result != CUBLAS_STATUS_SUCCESS || found == 0)
      throw unimplemented(fmt::format("cuBLASLt has no way to multiply [{}, {}] by [{}, {}]", p.m,
                                      p.k, p.k, p.n));
    algo_ = candidates[0];
    if (found > 1 && tune_) race(gpu, p, {candidates.data(), static_cast<size_t>(found)});
  }

  // Numbers like those of real use: a card runs faster on zeros.
  void fill_randomly(Gpu& gpu, char* memory, size_t bytes, cudaStream_t stream) const {
    const char* type = size_ == 2 ? "bf16" : size_ == 8 && wide_ ? "double" : "float";
    const size_t one = size_ == 2 ? 2 : size_ == 8 && wide_ ? 8 : 4;
    auto n = static_cast<int64_t>(bytes / one);
    uint64_t low = 0, high = 1, key = 2;
    void* args[] = {&memory, &n, &low, &high, &key};
    const CUfunction f = gpu.jit().get("random", fmt::format("draw<{}, true>", type));
    const Grid g = grid_for(gpu, n);
    check(cuLaunchKernel(f, g.x, 1, 1, g.block_x, 1, 1, 0, stream, args, nullptr), "filling");
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
    cudaStream_t stream;
    cudaEvent_t start, end;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreate(&start), "making an event");
    check(cudaEventCreate(&end), "making an event");
    fill_randomly(gpu, a, static_cast<size_t>(out - a), stream);
    float best = INFINITY;
    for (const cublasLtMatmulHeuristicResult_t& candidate : all) {
      if (candidate.state != CUBLAS_STATUS_SUCCESS) continue;
      // As a graph, so that the time of small ones is the card's, not that of launching.
      const int times = p.m * p.n * p.k * batch < (int64_t{1} << 30) ? 20 : 2;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      bool works = true;
      for (int i = 0; i < times && works; ++i)
        works = multiply(gpu, out, a, b, candidate, work, stream) == CUBLAS_STATUS_SUCCESS;
      works &= cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph;
      works = works && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
      float ms = INFINITY;
      for (int round = 0; round < 3 && works; ++round) {  // the first warms up
        cudaEventRecord(start, stream);
        cudaGraphLaunch(exec, stream);
        cudaEventRecord(end, stream);
        float now = 0;
        works = cudaEventSynchronize(end) == cudaSuccess &&
                cudaEventElapsedTime(&now, start, end) == cudaSuccess;
        if (round > 0) ms = std::min(ms, now);
      }
      if (exec) cudaGraphExecDestroy(exec);
      if (graph) cudaGraphDestroy(graph);
      if (works && ms < best) {
        best = ms;
        algo_ = candidate;
      }
    }
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
  }

  cublasStatus_t multiply(Gpu& gpu, void* out, const void* a, const void* b,
                          const cublasLtMatmulHeuristicResult_t& algo, void* work,
                          cudaStream_t stream) const {
    // Large enough for every scale type: 1 and 0 in the first bytes.
    static constexpr float kOne[4] = {1, 0, 0, 0}, kZero[4] = {};
    static constexpr double kOneD[2] = {1, 0}, kZeroD[2] = {};
    const void *one = wide_ ? static_cast<const void*>(kOneD) : kOne;
    const void *zero = wide_ ? static_cast<const void*>(kZeroD) : kZero;
    return cublasLtMatmul(gpu.blas(), op_, one, b, b_, a, a_, zero, out, c_, out, c_, &algo.algo,
                          work, algo.workspaceSize, stream);
  }

  cublasLtMatmulDesc_t op_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulHeuristicResult_t algo_{};
  const size_t size_;
  const bool wide_, tune_;
};

// Products by shape, shared by all nodes of a card that multiply alike.
class Products {
 public:
  static std::shared_ptr<Products> of(Gpu& gpu, DType dtype, bool ta, bool tb, bool adjoint) {
    const std::string name = fmt::format("matmul {} {} {} {}", dtype_name(dtype), ta, tb, adjoint);
    return std::static_pointer_cast<Products>(gpu.shared(name, [&] {
      return std::make_shared<Products>(gpu, dtype, ta, tb, adjoint, adjoint);
    }));
  }
  Products(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb)
      : gpu_(gpu), dtype_(dtype), ta_(ta), tb_(tb), ca_(ca), cb_(cb) {}
  const Product& get(const Problem& p, bool tune = false) {
    const std::lock_guard lock(mutex_);
    auto& slot = products_[p];
    if (!slot) slot = std::make_unique<Product>(gpu_, dtype_, ta_, tb_, ca_, cb_, p, tune);
    return *slot;
  }

 private:
  Gpu& gpu_;
  const DType dtype_;
  const bool ta_, tb_, ca_, cb_;
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
    products->get(p).run(*gpu, out.raw(), a.raw(), b.raw());
  }
};
Prepared make_matmul(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool ta = init.attr<bool>("transpose_a"), tb = init.attr<bool>("transpose_b");
  auto products = Products::of(gpu, init.input_types[0], ta, tb, false);
  MatMul m{&gpu, ta, tb, products};
  if (init.static_shapes() && init.input_shapes[0].rank() == 2 && init.input_shapes[1].rank() == 2)
    if (const Problem p = m.problem(init.input_shapes[0], init.input_shapes[1]); p.m > 0 && p.n > 0 && p.k > 0)
      products->get(p, true);
  return prepared(std::move(m));
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

std::vector<KernelRow> matmul_kernels() {
  std::vector<DType> types = kFloats;
  types.insert(types.end(), kComplexes.begin(), kComplexes.end());
  return {cuda_row("MatMul", make_matmul, {{"T", types}}),
          cuda_row("BatchMatMul", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV2", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV3", make_batch_matmul, {{"Ta", types}})};
}

}  // namespace emplace::cuda
