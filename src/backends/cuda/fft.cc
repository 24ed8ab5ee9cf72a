// Fourier transforms by cuFFT, which is opened when the first is met: nothing else needs it.
#include <cufft.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <map>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// The functions of the library that are called here.
struct Library {
  decltype(&::cufftCreate) create;
  decltype(&::cufftDestroy) destroy;
  decltype(&::cufftMakePlanMany64) make;
  decltype(&::cufftSetAutoAllocation) set_auto;
  decltype(&::cufftSetWorkArea) set_work;
  decltype(&::cufftSetStream) set_stream;
  decltype(&::cufftExecC2C) c2c;
  decltype(&::cufftExecZ2Z) z2z;
  decltype(&::cufftExecR2C) r2c;
  decltype(&::cufftExecD2Z) d2z;
  decltype(&::cufftExecC2R) c2r;
  decltype(&::cufftExecZ2D) z2d;

  static const Library& get() {
    static const Library* const library = new Library;
    return *library;
  }

 private:
  Library() {
    void* file = nullptr;
    for (const char* name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so"})
      if ((file = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
    if (!file)
      throw unimplemented(fmt::format("Fourier transforms on a card need cuFFT: {}", dlerror()));
    find(file, "cufftCreate", create);
    find(file, "cufftDestroy", destroy);
    find(file, "cufftMakePlanMany64", make);
    find(file, "cufftSetAutoAllocation", set_auto);
    find(file, "cufftSetWorkArea", set_work);
    find(file, "cufftSetStream", set_stream);
    find(file, "cufftExecC2C", c2c);
    find(file, "cufftExecZ2Z", z2z);
    find(file, "cufftExecR2C", r2c);
    find(file, "cufftExecD2Z", d2z);
    find(file, "cufftExecC2R", c2r);
    find(file, "cufftExecZ2D", z2d);
  }
  template <class F>
  static void find(void* file, const char* name, F& f) {
    f = reinterpret_cast<F>(dlsym(file, name));
    if (!f) throw unimplemented(fmt::format("cuFFT has no {}", name));
  }
};

void check_fft(cufftResult result, const char* what) {
  if (result != CUFFT_SUCCESS)
    throw internal_error(fmt::format("cuFFT: {}: error {}", what, static_cast<int>(result)));
}

enum class Kind { kComplex, kToComplex, kToReal };

// A transform of fixed sizes; its scratch memory comes from whoever runs it.
class Plan {
 public:
  Plan(Kind kind, bool wide, std::vector<long long> lengths, int64_t batch)
      : kind_(kind), wide_(wide) {
    const Library& l = Library::get();
    check_fft(l.create(&plan_), "making a plan");
    check_fft(l.set_auto(plan_, 0), "making a plan");
    const cufftType type = kind == Kind::kComplex ? (wide ? CUFFT_Z2Z : CUFFT_C2C)
                           : kind == Kind::kToComplex ? (wide ? CUFFT_D2Z : CUFFT_R2C)
                                                      : (wide ? CUFFT_Z2D : CUFFT_C2R);
    check_fft(l.make(plan_, static_cast<int>(lengths.size()), lengths.data(), nullptr, 1, 0,
                     nullptr, 1, 0, type, batch, &work_),
              "making a plan");
  }
  ~Plan() { Library::get().destroy(plan_); }
  Plan(const Plan&) = delete;
  size_t work() const { return work_; }

  void run(Gpu& gpu, void* in, void* out, void* work, bool inverse) {
    const Library& l = Library::get();
    const std::lock_guard lock(mutex_);  // stream and scratch memory are the plan's
    check_fft(l.set_stream(plan_, gpu.stream()), "choosing a stream");
    if (work_ > 0) check_fft(l.set_work(plan_, work), "giving memory");
    const int way = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    using C = cufftComplex;
    using Z = cufftDoubleComplex;
    cufftResult result;
    if (kind_ == Kind::kComplex)
      result = wide_ ? l.z2z(plan_, static_cast<Z*>(in), static_cast<Z*>(out), way)
                     : l.c2c(plan_, static_cast<C*>(in), static_cast<C*>(out), way);
    else if (kind_ == Kind::kToComplex)
      result = wide_ ? l.d2z(plan_, static_cast<double*>(in), static_cast<Z*>(out))
                     : l.r2c(plan_, static_cast<float*>(in), static_cast<C*>(out));
    else
      result = wide_ ? l.z2d(plan_, static_cast<Z*>(in), static_cast<double*>(out))
                     : l.c2r(plan_, static_cast<C*>(in), static_cast<float*>(out));
    check_fft(result, "transforming");
  }

 private:
  const Kind kind_;
  const bool wide_;
  cufftHandle plan_ = 0;
  size_t work_ = 0;
  std::mutex mutex_;
};

class Plans {
 public:
  Plan& get(Kind kind, bool wide, const std::vector<long long>& lengths, int64_t batch) {
    std::vector<int64_t> key(lengths.begin(), lengths.end());
    key.insert(key.end(), {batch, wide});
    const std::lock_guard lock(mutex_);
    auto& slot = plans_[key];
    if (!slot) slot = std::make_unique<Plan>(kind, wide, lengths, batch);
    return *slot;
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::unique_ptr<Plan>> plans_;
};

struct Fft {
  Gpu* gpu;
  int rank;
  bool inverse, real, wide;
  CUfunction move, scale;
  std::shared_ptr<Plans> plans = std::make_shared<Plans>();

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() < rank)
      throw invalid_argument(
          fmt::format("Input must have rank of at least {} but got: {}", rank, in.shape().str()));
    const int lead = in.rank() - rank;
    std::vector<int64_t> full(in.shape().dims().begin(), in.shape().dims().end());
    if (c.num_inputs() > 1) set_lengths(c, lead, full);
    std::vector<int64_t> given = full, made = full;  // what the transform takes and makes
    if (real && full.back() > 0) (inverse ? given : made).back() = full.back() / 2 + 1;
    Tensor& out = c.output(0, Shape(made));
    if (out.num_elements() == 0) return;
    std::vector<long long> lengths(full.begin() + lead, full.end());
    int64_t batch = 1, points = 1;
    for (int d = 0; d < lead; ++d) batch *= full[static_cast<size_t>(d)];
    for (long long n : lengths) points *= n;
    const Kind kind = !real ? Kind::kComplex : inverse ? Kind::kToReal : Kind::kToComplex;
    Plan& plan = plans->get(kind, wide, lengths, batch);
    const Shape laid(given);
    const bool whole = laid == in.shape();
    // Back to real numbers the library writes over what it is given.
    const bool copies = !whole || kind == Kind::kToReal;
    const size_t bytes =
        copies
            ? (static_cast<size_t>(laid.num_elements()) * dtype_size(in.dtype()) + 255) / 256 * 256
            : 0;
    char* const work = static_cast<char*>(gpu->workspace(bytes + plan.work() + 256));
    if (copies) lay(in, laid, work, whole);
    plan.run(*gpu, copies ? work : in.raw(), out.raw(), work + bytes, inverse);
    if (!inverse) return;
    const int64_t n = out.num_elements() * (real ? 1 : 2);
    launch_kernel(*gpu, scale, grid_for(*gpu, n), out.raw(), n, 1.0 / static_cast<double>(points));
  }

 private:
  // The part that both shapes have, zeros elsewhere.
  void lay(const Tensor& in, const Shape& laid, void* to, bool whole) const {
    const size_t bytes = static_cast<size_t>(laid.num_elements()) * dtype_size(in.dtype());
    if (whole)
      return check(cudaMemcpyAsync(to, in.raw(), bytes, cudaMemcpyDeviceToDevice, gpu->stream()),
                   "copying");
    gpu->zero(to, bytes);
    std::vector<int64_t> dims, from, at;
    int64_t step = 1, other = 1, n = 1;
    for (int d = in.rank() - 1; d >= 0; --d) {
      dims.insert(dims.begin(), std::min(in.dim(d), laid[d]));
      at.insert(at.begin(), step);
      from.insert(from.begin(), other);
      step *= laid[d];
      other *= in.dim(d);
      n *= dims.front();
    }
    if (n > 0)
      launch_kernel(*gpu, move, grid_for(*gpu, n), to, in.raw(), int64_t{0}, n,
                    merged(dims, at, from));
  }
  void set_lengths(KernelContext& c, int lead, std::vector<int64_t>& full) const {
    const auto lengths = host_ints(c.input(1));
    if (static_cast<int>(lengths.size()) != rank)
      throw invalid_argument(fmt::format("fft_length must have shape [{}]", rank));
    for (int i = 0; i < rank; ++i) {
      const int64_t length = lengths[static_cast<size_t>(i)];
      int64_t& size = full[static_cast<size_t>(lead + i)];
      if (length < 0)
        throw invalid_argument(fmt::format("fft_length[{}] must >= 0, but got: {}", i, length));
      const int64_t needed = inverse && i + 1 == rank && length > 0 ? length / 2 + 1 : length;
      if (c.input(0).num_elements() > 0 && size < needed)
        throw invalid_argument(
            fmt::format("Input dimension {} must have length of at least {} but got: {}", lead + i,
                        needed, size));
      size = length;
    }
  }
};

template <int kRank, bool kInverse, bool kReal>
Prepared make_fft(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType in = init.input_types[0], out = init.output_types[0];
  const bool wide = in == DType::kDouble || in == DType::kComplex128;
  if (wide != (out == DType::kDouble || out == DType::kComplex128))
    throw invalid_argument("input and output must have one precision");
  return prepared(Fft{&gpu, kRank, kInverse, kReal, wide,
                      gpu.jit().get("arrange", fmt::format("move_strided<{}>", device_bits(in))),
                      gpu.jit().get("sparse", wide ? "scaled<double>" : "scaled<float>")});
}

template <bool kInverse, bool kReal>
void add(std::vector<KernelRow>& rows, const std::string& name) {
  const KernelFactory makers[] = {make_fft<1, kInverse, kReal>, make_fft<2, kInverse, kReal>,
                                  make_fft<3, kInverse, kReal>};
  const char* const ends[] = {"", "2D", "3D"};
  for (int i = 0; i < 3; ++i) rows.push_back(cuda_row(name + ends[i], makers[i]));
}

}  // namespace

std::vector<KernelRow> fft_kernels() {
  std::vector<KernelRow> rows;
  add<false, false>(rows, "FFT");
  add<true, false>(rows, "IFFT");
  add<false, false>(rows, "BatchFFT");  // older names
  add<true, false>(rows, "BatchIFFT");
  add<false, true>(rows, "RFFT");
  add<true, true>(rows, "IRFFT");
  for (KernelRow& row : rows)
    row.traits.replays = false;  // a plan has one place for its scratch memory
  return rows;
}

}  // namespace emplace::cuda
