// Products of matrices, by cuBLASLt: an algorithm is chosen once a shape, when the plan is made if
// shapes are known then.
#include "backends/cuda/product.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "backends/cuda/trial.h"

namespace emplace::cuda {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;
constexpr float kClearly = 0.98f;
constexpr int kTrials = 20;
constexpr int64_t kMostGap = 8;             // elements, to the next edge of 16 bytes
constexpr int64_t kPaddedBytes = 64 << 20;  // of copies at a time
// Multiplications above which a product is large: a card that goes on for long lowers its clock, so
// its candidates take turns and are compared in like weather. Above the second they are not tried.
constexpr int64_t kLarge = int64_t{1} << 34, kMostTried = int64_t{1} << 40;
constexpr size_t kMostCandidates = 8;  // of a large one
constexpr int kTurns = 4;              // the first warms up

cudaDataType_t data_type(DType t) {
  switch (t) {
    case DType::kFloat:
      return CUDA_R_32F;
    case DType::kDouble:
      return CUDA_R_64F;
    case DType::kHalf:
      return CUDA_R_16F;
    case DType::kBfloat16:
      return CUDA_R_16BF;
    case DType::kComplex64:
      return CUDA_C_32F;
    case DType::kComplex128:
      return CUDA_C_64F;
    default:
      throw unimplemented("matrix product of this dtype");
  }
}

cublasComputeType_t compute_type(DType t) {
  switch (t) {
    case DType::kDouble:
    case DType::kComplex128:
      return CUBLAS_COMPUTE_64F;
    case DType::kFloat:
    case DType::kComplex64:
      return tf32_allowed() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

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

class Padded;

// A chosen algorithm of cuBLASLt's with its descriptions.
class Chosen final : public Product {
 public:
  // `tune`: candidates are tried, which takes some milliseconds; not while a recording is made.
  Chosen(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb, After after, const Problem& p,
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
    const cudaDataType_t scale =
        dtype == DType::kHalf || dtype == DType::kBfloat16 ? CUDA_R_32F : type;
    check(cublasLtMatmulDescCreate(&op_, compute_type(dtype), scale), "cuBLASLt");
    // Rows for us are columns for cuBLAS: it computes Cᵀ = Bᵀ Aᵀ.
    const auto a_op = operation(ta, ca), b_op = operation(tb, cb);
    set(CUBLASLT_MATMUL_DESC_TRANSA, b_op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a_op);
    if (after == After::kBias) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (after == After::kBiasRelu) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
    b_ = layout(type, tb ? p.k : p.n, tb ? p.n : p.k, p.batch, p.stride_b, p.pitch_b);
    a_ = layout(type, ta ? p.m : p.k, ta ? p.k : p.m, p.batch, p.stride_a, p.pitch_a);
    c_ = layout(type, p.n, p.m, p.batch, p.m * p.n, p.pitch_c);
    choose(gpu, p);
    if (tune) try_padded(gpu, ta, tb, ca, cb, p);
  }
  ~Chosen() override;
  void release() {
    for (cublasLtMatrixLayout_t l : {a_, b_, c_})
      if (l) cublasLtMatrixLayoutDestroy(l);
    if (op_) cublasLtMatmulDescDestroy(op_);
  }
  Chosen(const Chosen&) = delete;

  float time() const override { return ms_; }
  void run(Gpu& gpu, void* out, const void* a, const void* b, const void* bias) const override {
    if (small_) return small_->run(gpu, out, a, b, bias);
    if (padded_) return run_padded(gpu, out, a, b, bias);
    run_within(gpu, out, a, b, bias,
               algo_.workspaceSize ? gpu.workspace(algo_.workspaceSize) : nullptr);
  }
  // … with scratch memory of the caller's.
  size_t workspace() const { return algo_.workspaceSize; }
  void run_within(Gpu& gpu, void* out, const void* a, const void* b, const void* bias,
                  void* work) const {
    check(multiply(gpu, out, a, b, bias, algo_, work, gpu.stream()), "multiplying matrices");
  }

 private:
  void try_padded(Gpu& gpu, bool ta, bool tb, bool ca, bool cb, const Problem& p);
  void run_padded(Gpu& gpu, void* out, const void* a, const void* b, const void* bias) const;
  static cublasOperation_t operation(bool transpose, bool conjugate) {
    return transpose ? conjugate ? CUBLAS_OP_C : CUBLAS_OP_T : CUBLAS_OP_N;
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, T value) const {
    check(cublasLtMatmulDescSetAttribute(op_, what, &value, sizeof value), "cuBLASLt");
  }
  static cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t columns,
                                       int64_t batch, int64_t stride, int64_t pitch) {
    cublasLtMatrixLayout_t l;
    check(cublasLtMatrixLayoutCreate(&l, type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), pitch ? pitch : rows),
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
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspace, sizeof kWorkspace),
          "cuBLASLt");
    int found = 0;
    std::array<cublasLtMatmulHeuristicResult_t, 32> candidates{};
    const cublasStatus_t result = cublasLtMatmulAlgoGetHeuristic(
        gpu.blas(), op_, b_, a_, c_, c_, preference, static_cast<int>(candidates.size()),
        candidates.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (result != CUBLAS_STATUS_SUCCESS || found == 0)
      throw unimplemented(
          fmt::format("cuBLASLt has no way to multiply [{}, {}] by [{}, {}]", p.m, p.k, p.k, p.n));
    algo_ = candidates[0];
    if (found > 1 && tune_ && p.m * p.n * p.k * p.batch <= kMostTried)
      race(gpu, p, {candidates.data(), static_cast<size_t>(found)});
  }

  // Tries the candidates on memory of their own and keeps the fastest.
  void race(Gpu& gpu, const Problem& p, std::span<const cublasLtMatmulHeuristicResult_t> all) {
    const auto size = static_cast<int64_t>(size_);
    const int64_t batch = std::max<int64_t>(1, p.batch);
    // Gaps between rows are few elements.
    const int64_t all_a = (p.m * p.k + kMostGap * (p.m + p.k)) * batch,
                  all_b = (p.k * p.n + kMostGap * (p.k + p.n)) * batch,
                  all_c = (p.m * p.n + kMostGap * p.m) * batch;
    BufferPtr memory;
    try {
      memory = gpu.allocate(static_cast<size_t>((all_a + all_b + all_c) * size + 1024 +
                                                static_cast<int64_t>(kWorkspace)),
                            "trying matrix products");
    } catch (const Error&) {
      return;  // no room: the first will do
    }
    char* const a = static_cast<char*>(memory->data());
    auto up = [](int64_t x) { return (x + 255) / 256 * 256; };
    char* const b = a + up(all_a * size);
    char* const out = b + up(all_b * size);
    char* const work = out + up(all_c * size);
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
    const void* one = wide_ ? static_cast<const void*>(kOneD) : kOne;
    const void* zero = wide_ ? static_cast<const void*>(kZeroD) : kZero;
    return cublasLtMatmul(gpu.blas(), op_, one, b, b_, a, a_, zero, out, c_, out, c_, &algo.algo,
                          work, algo.workspaceSize, stream);
  }

  std::optional<SmallProduct> small_;
  std::unique_ptr<Padded> padded_;
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

// A product of matrices whose sizes fall on no edges of 16 bytes, which makes it slow: of copies
// with a few zeros more, some rows of the result at a time.
class Padded {
 public:
  // Is it large and slow in that way? A bias has no room for more columns.
  static bool may_help(DType t, bool ta, After after, const Problem& p) {
    if (t != DType::kFloat && t != DType::kHalf && t != DType::kBfloat16) return false;
    const int64_t u = kVectorBytes / static_cast<int64_t>(dtype_size(t));
    return p.batch == 1 && !p.pitch_a && !p.pitch_b && !p.pitch_c && p.m * p.n * p.k > kLarge &&
           (after == After::kNothing || p.n % u == 0) && (p.k % u || p.n % u || (ta && p.m % u));
  }

  Padded(Gpu& gpu, DType t, bool ta, bool tb, bool ca, bool cb, After after, const Problem& p)
      : p_(p),
        size_(static_cast<int64_t>(dtype_size(t))),
        n_(up(p.n)),
        k_(up(p.k)),
        ta_(ta),
        tb_(tb),
        a_(k_ != p.k || (ta && up(p.m) != p.m)),
        b_(k_ != p.k || n_ != p.n),
        c_(n_ != p.n),
        copy_(gpu.jit().get("arrange", fmt::format("copy_rows<{}>", device_bits(t)))) {
    const int64_t each = (a_ ? k_ : 0) + (c_ ? n_ : 0);  // copied for a row of the result
    const int64_t parts =
        std::max<int64_t>(1, (p.m * each * size_ + kPaddedBytes - 1) / kPaddedBytes);
    rows_ = std::min(p.m, ((p.m + parts - 1) / parts + 255) / 256 * 256);
    for (const int64_t rows : {rows_, p.m % rows_})
      if (rows > 0)
        of_[rows != rows_] = std::make_unique<Chosen>(
            gpu, t, ta, tb, ca, cb, after,
            Problem{rows, n_, k_, 1, 0, 0, ta ? (a_ ? up(rows) : p.m) : k_, tb ? k_ : n_, n_},
            true);
  }

  // Milliseconds.
  float time(Gpu& gpu) const {
    BufferPtr memory;
    try {
      memory =
          gpu.allocate(2 * std::max({a_bytes(), b_bytes(), c_bytes()}), "trying matrix products");
    } catch (const Error&) {
      return INFINITY;
    }
    void* const from = memory->data();
    void* const to = static_cast<char*>(from) + memory->bytes() / 2;
    Trial trial;
    auto copying = [&](int64_t width, int64_t rows) {
      const Copy c{width, rows, width, rows, up(width), width};
      return trial.time(2, [&] { return copy(trial.stream(), to, from, c); });
    };
    float ms = of_[0]->time();
    if (a_) ms += ta_ ? copying(rows_, p_.k) : copying(p_.k, rows_);
    if (c_) ms += copying(p_.n, rows_);
    ms *= static_cast<float>(p_.m) / static_cast<float>(rows_);
    if (b_) ms += tb_ ? copying(p_.k, p_.n) : copying(p_.n, p_.k);
    return ms;
  }

  void run(Gpu& gpu, void* out, const void* a, const void* b, const void* bias) const {
    const size_t work = rounded(std::max(of_[0]->workspace(), of_[1] ? of_[1]->workspace() : 0));
    char* const base = static_cast<char*>(gpu.workspace(work + a_bytes() + b_bytes() + c_bytes()));
    char* const a_copy = base + work;
    char* const b_copy = a_copy + a_bytes();
    char* const c_copy = b_copy + b_bytes();
    bool done = true;
    auto copy_now = [&](void* to, const void* from, const Copy& c) {
      done &= copy(gpu.stream(), to, from, c);
    };
    if (b_)
      copy_now(b_copy, b,
               tb_ ? Copy{p_.k, p_.n, k_, n_, k_, p_.k} : Copy{p_.n, p_.k, n_, k_, n_, p_.n});
    for (int64_t row = 0; row < p_.m; row += rows_) {
      const int64_t rows = std::min(rows_, p_.m - row);
      const char* const a_part = static_cast<const char*>(a) + row * (ta_ ? 1 : p_.k) * size_;
      char* const c_part = static_cast<char*>(out) + row * p_.n * size_;
      if (a_)
        copy_now(a_copy, a_part,
                 ta_ ? Copy{rows, p_.k, rows, k_, up(rows), p_.m}
                     : Copy{p_.k, rows, k_, rows, k_, p_.k});
      of_[rows != rows_]->run_within(gpu, c_ ? c_copy : c_part, a_ ? a_copy : a_part,
                                     b_ ? b_copy : b, bias, base);
      if (c_) copy_now(c_part, c_copy, {p_.n, rows, p_.n, rows, p_.n, n_});
    }
    if (!done) throw internal_error("copying rows of a product failed");
  }

 private:
  // As device/arrange.cuh's copy_rows.
  struct Copy {
    int64_t width, rows, to_width, to_rows, to_pitch, from_pitch;
  };
  static size_t rounded(size_t n) { return (n + 255) / 256 * 256; }
  int64_t up(int64_t n) const {
    const int64_t u = kVectorBytes / size_;
    return (n + u - 1) / u * u;
  }
  size_t bytes(int64_t elements) const { return rounded(static_cast<size_t>(elements * size_)); }
  size_t a_bytes() const { return a_ ? bytes(up(rows_) * k_) : 0; }
  size_t b_bytes() const { return b_ ? bytes(n_ * k_) : 0; }
  size_t c_bytes() const { return c_ ? bytes(rows_ * n_) : 0; }
  bool copy(cudaStream_t stream, void* to, const void* from, Copy c) const {
    auto width = static_cast<int32_t>(c.width), rows = static_cast<int32_t>(c.rows);
    auto to_width = static_cast<int32_t>(c.to_width), to_rows = static_cast<int32_t>(c.to_rows);
    void* args[] = {&to, &from, &width, &rows, &to_width, &to_rows, &c.to_pitch, &c.from_pitch};
    const auto x = static_cast<unsigned>((c.to_width + 1023) / 1024);
    const auto y = static_cast<unsigned>(std::min<int64_t>(c.to_rows, 65535));
    return cuLaunchKernel(copy_, x, y, 1, 256, 1, 1, 0, stream, args, nullptr) == CUDA_SUCCESS;
  }

  const Problem p_;
  const int64_t size_, n_, k_;      // with what is added
  const bool ta_, tb_, a_, b_, c_;  // … and which are copied
  const CUfunction copy_;
  int64_t rows_ = 0;               // of the result at a time
  std::unique_ptr<Chosen> of_[2];  // of so many, and of the last ones
};

Chosen::~Chosen() { release(); }

void Chosen::try_padded(Gpu& gpu, bool ta, bool tb, bool ca, bool cb, const Problem& p) {
  if (!Padded::may_help(dtype_, ta, after_, p) || ms_ == 0) return;
  auto padded = std::make_unique<Padded>(gpu, dtype_, ta, tb, ca, cb, after_, p);
  if (const float ms = padded->time(gpu); ms < ms_ * kClearly) {
    ms_ = ms;
    padded_ = std::move(padded);
  }
}

void Chosen::run_padded(Gpu& gpu, void* out, const void* a, const void* b, const void* bias) const {
  padded_->run(gpu, out, a, b, bias);
}

}  // namespace

std::shared_ptr<Products> Products::of(Gpu& gpu, DType dtype, bool ta, bool tb, bool adjoint,
                                       After after) {
  const std::string name = fmt::format("matmul {} {} {} {} {} {}", dtype_name(dtype), ta, tb,
                                       adjoint, static_cast<int>(after), tf32_allowed());
  return std::static_pointer_cast<Products>(gpu.shared(name, [&] {
    return std::make_shared<Products>(gpu, dtype, ta, tb, adjoint, adjoint, after);
  }));
}

std::unique_ptr<Product> Products::make(const Problem& p, bool tune) const {
  return std::make_unique<Chosen>(gpu_, dtype_, ta_, tb_, ca_, cb_, after_, p, tune);
}

void batch_product(Gpu& gpu, DType dtype, void* out, const void* a, const void* b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b) {
  Products::of(gpu, dtype, transpose_a, transpose_b, true)
      ->get({m, n, k, batch, m * k, k * n})
      .run(gpu, out, a, b);
}

void prepare_product(Gpu& gpu, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k,
                     bool transpose_a, bool transpose_b) {
  Products::of(gpu, dtype, transpose_a, transpose_b, true)
      ->get({m, n, k, batch, m * k, k * n}, true);
}

}  // namespace emplace::cuda
