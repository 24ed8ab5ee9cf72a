#include "backends/cuda/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace emplace::cuda {

std::string_view device_type(DType t) {
  switch (t) {
    case DType::kFloat: return "float";
    case DType::kDouble: return "double";
    case DType::kHalf: return "f16";
    case DType::kBfloat16: return "bf16";
    case DType::kInt8: return "i8";
    case DType::kInt16: return "i16";
    case DType::kInt32: return "i32";
    case DType::kInt64: return "i64";
    case DType::kUint8: return "u8";
    case DType::kUint16: return "u16";
    case DType::kUint32: return "u32";
    case DType::kUint64: return "u64";
    case DType::kBool: return "bool";
    case DType::kComplex64: return "c64";
    case DType::kComplex128: return "c128";
    default: throw unimplemented(fmt::format("{} on a card", dtype_name(t)));
  }
}

std::string_view device_bits(DType t) {
  switch (dtype_size(t)) {
    case 1: return "u8";
    case 2: return "u16";
    case 4: return "u32";
    case 8: return "u64";
    case 16: return "c128";
    default: throw unimplemented(fmt::format("{} on a card", dtype_name(t)));
  }
}

Grid grid_for(Gpu& gpu, int64_t n) {
  const int64_t blocks = (n + 255) / 256, most = int64_t{32} * gpu.sms();
  Grid g;
  g.x = static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most));
  return g;
}

Grid one_each(int64_t n, int vector) {
  const int64_t threads = n / vector + n % vector;
  Grid g;
  g.block_x = threads >= 256 ? 256 : static_cast<unsigned>((threads + 31) / 32 * 32);
  g.x = static_cast<unsigned>((threads + g.block_x - 1) / g.block_x);
  return g;
}

bool aligned(std::initializer_list<const void*> pointers) {
  for (const void* p : pointers)
    if (reinterpret_cast<uintptr_t>(p) % kVectorBytes) return false;
  return true;
}

void launch(Gpu& gpu, CUfunction f, const Grid& g, void** args, Start start) {
  Lane* const lane = Lane::current();
  const bool mine = lane && lane->gpu == &gpu;
  CUlaunchConfig config{};
  config.gridDimX = g.x;
  config.gridDimY = g.y;
  config.gridDimZ = g.z;
  config.blockDimX = g.block_x;
  config.blockDimY = g.block_y;
  config.blockDimZ = 1;
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = start == Start::kEarly && mine && !lane->queue && lane->kernel_last &&
                    gpu.starts_early();
  config.hStream = gpu.stream();  // forgets what was last in it
  check(cuLaunchKernelEx(&config, f, args, nullptr), "launching a kernel");
  if (mine) lane->kernel_last = true;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    const int64_t x = d < rank - a.rank() ? 1 : a[d - (rank - a.rank())];
    const int64_t y = d < rank - b.rank() ? 1 : b[d - (rank - b.rank())];
    if (x != y && x != 1 && y != 1)
      throw invalid_argument(
          fmt::format("Incompatible shapes: {} vs. {}", a.str(), b.str()));
    dims[static_cast<size_t>(d)] = x == 1 ? y : x;
  }
  return Shape(dims);
}

namespace {

// Adds a dimension outside those that are there, or widens the outermost one.
struct Merger {
  Strides s;
  int operands;

  void add(int64_t size, const std::array<int64_t, 3>& strides) {
    if (size == 1) return;
    if (s.rank > 0 && s.dims[0] * size < (int64_t{1} << 31)) {
      bool fits = true;
      for (int k = 0; k < operands; ++k) fits &= strides[k] == s.strides[k][0] * s.dims[0];
      if (fits) {
        s.dims[0] *= static_cast<uint32_t>(size);
        return;
      }
    }
    if (s.rank == 8) throw unimplemented("broadcast between more than 8 dimensions");
    for (int d = s.rank; d > 0; --d) {
      s.dims[d] = s.dims[d - 1];
      for (int k = 0; k < operands; ++k) s.strides[k][d] = s.strides[k][d - 1];
    }
    s.dims[0] = static_cast<uint32_t>(size);
    for (int k = 0; k < operands; ++k) s.strides[k][0] = strides[k];
    ++s.rank;
  }
};

}  // namespace

Strides broadcast_strides(const Shape& result, std::initializer_list<const Shape*> operands) {
  Merger m{{}, static_cast<int>(operands.size())};
  std::array<int64_t, 3> step{1, 1, 1};
  for (int d = result.rank() - 1; d >= 0; --d) {
    std::array<int64_t, 3> strides{};
    int k = 0;
    for (const Shape* o : operands) {
      const int at = d - (result.rank() - o->rank());
      const int64_t size = at < 0 ? 1 : (*o)[at];
      strides[k] = size == 1 ? 0 : step[k];
      if (at >= 0) step[k] *= size;
      ++k;
    }
    m.add(result[d], strides);
  }
  if (m.s.rank == 0) m.s.dims[m.s.rank++] = 1;
  return m.s;
}

Strides merged(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  Merger m{{}, 1};
  for (size_t d = dims.size(); d-- > 0;) m.add(dims[d], {strides[d], 0, 0});
  if (m.s.rank == 0) m.s.dims[m.s.rank++] = 1;
  return m.s;
}

Strides merged(std::span<const int64_t> dims, std::span<const int64_t> first,
               std::span<const int64_t> second) {
  Merger m{{}, 2};
  for (size_t d = dims.size(); d-- > 0;) m.add(dims[d], {first[d], second[d], 0});
  if (m.s.rank == 0) m.s.dims[m.s.rank++] = 1;
  return m.s;
}

bool widen(Strides& s, int64_t& base, int64_t size) {
  const int64_t k = kVectorBytes / size;
  const int last = s.rank - 1;
  if (k < 2 || s.strides[0][last] != 1 || s.dims[last] % k || base % k) return false;
  for (int d = 0; d < last; ++d)
    if (s.strides[0][d] % k) return false;
  for (int d = 0; d < last; ++d) s.strides[0][d] /= k;
  s.dims[last] /= static_cast<uint32_t>(k);
  base /= k;
  return true;
}

void fill_from_host(Gpu& gpu, Tensor& out, const void* value) {
  int64_t n = out.num_elements();
  if (n == 0) return;
  void* to = out.raw();
  alignas(16) char element[16] = {};
  std::memcpy(element, value, dtype_size(out.dtype()));
  void* args[] = {&to, element, &n};
  launch(gpu, gpu.jit().get("elementwise", fmt::format("fill_with<{}>", device_bits(out.dtype()))),
         grid_for(gpu, n), args);
}

void fill_with_noise(Gpu& gpu, void* memory, size_t bytes, DType dtype, cudaStream_t stream) {
  const bool narrow = dtype_size(dtype) == 2;
  const bool wide = dtype == DType::kDouble || dtype == DType::kComplex128;
  auto n = static_cast<int64_t>(bytes / (narrow ? 2 : wide ? 8 : 4));
  uint64_t low = 0, high = 1, key = 2;
  void* args[] = {&memory, &n, &low, &high, &key};
  const char* const type = dtype == DType::kHalf ? "f16" : narrow ? "bf16" : wide ? "double" : "float";
  const CUfunction f = gpu.jit().get("random", fmt::format("draw<{}, true>", type));
  const Grid g = grid_for(gpu, n);
  check(cuLaunchKernel(f, g.x, 1, 1, g.block_x, 1, 1, 0, stream, args, nullptr), "filling");
}

BufferPtr scratch(Gpu& gpu, size_t bytes) { return gpu.allocate(bytes, "scratch"); }

namespace {

// Bytes on their way to the host, and the call that waits for them.
struct Reading {
  Gpu& gpu;
  CudaQueue& queue;
  BufferPtr bytes;
  GoOn then;
  std::unique_ptr<Continuation> rest;
  std::optional<Error> error;
};

void go_on(void* reading, uint64_t) {
  auto& r = *static_cast<Reading*>(reading);
  try {
    r.then(r.rest->context(), r.bytes->data());
  } catch (const Error& e) {
    r.error = e;
  } catch (const std::exception& e) {
    r.error = internal_error(e.what());
  }
}

void has_come(void* reading, uint64_t) {
  std::unique_ptr<Reading> r(static_cast<Reading*>(reading));
  r->error = r->queue.fault();
  if (!r->error) r->queue.submit(&go_on, r.get(), 0);
  const std::unique_ptr<Continuation> rest = std::move(r->rest);
  std::optional<Error> error = std::move(r->error);
  r.reset();
  if (error) rest->fail(*std::move(error));
  else rest->done();
}

}  // namespace

void read_then(KernelContext& c, Gpu& gpu, const void* from, size_t bytes, GoOn then) {
  CudaQueue& queue = *Lane::current()->queue;
  std::unique_ptr<Reading> r(
      new Reading{gpu, queue, gpu.allocate_pinned(bytes), std::move(then), nullptr, {}});
  check(cudaMemcpyAsync(r->bytes->data(), from, bytes, cudaMemcpyDeviceToHost, gpu.stream()),
        "copying");
  r->rest = c.suspend();
  queue.notify(&has_come, r.release(), 0);
}

void Gpu::zero(void* to, size_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, 0, bytes, stream()), "filling with zeros");
}

void Gpu::add(DType dtype, void* to, const void* from, int64_t n) {
  if (n == 0) return;
  const std::string_view t = device_type(dtype);
  const CUfunction f = jit_.get("elementwise", fmt::format("binary<Add, {}, {}, 1>", t, t));
  launch_early(*this, f, one_each(n, 1), to, to, from, n);
}

std::vector<int64_t> host_ints(const Tensor& t) {
  std::vector<int64_t> v(static_cast<size_t>(t.num_elements()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = t.dtype() == DType::kInt32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
  return v;
}

const std::vector<DType>& real_types() {
  static const std::vector<DType> types = [] {
    std::vector<DType> all = kFloats;
    for (DType t : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUint8,
                    DType::kUint16, DType::kUint32, DType::kUint64})
      all.push_back(t);
    return all;
  }();
  return types;
}

const std::vector<DType>& number_types() {
  static const std::vector<DType> types = [] {
    std::vector<DType> all = real_types();
    all.insert(all.end(), kComplexes.begin(), kComplexes.end());
    return all;
  }();
  return types;
}

KernelRow cuda_row(std::string op, KernelFactory make, std::vector<TypeConstraint> types,
                   KernelTraits traits) {
  traits.replays = true;
  return {std::move(op), "CUDA", std::move(types), {}, make, traits, 0, ""};
}

}  // namespace emplace::cuda
