#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "backends/cuda/gpu.h"
#include "kernel/kernel.h"
#include "kernel/switches.h"

namespace emplace::cuda {

// Must look as device/prelude.cuh's does.
struct Strides {
  int32_t rank = 0;
  uint32_t dims[8] = {};
  int64_t strides[3][8] = {};
};

// Must look as device/arrange.cuh's does.
struct Steps {
  int64_t dims[8] = {}, strides[8] = {};
};

// The name of a dtype in the device sources: "float", "f16", "i64".
std::string_view device_type(DType t);
// … of the unsigned type of the same size, for kernels that only move.
std::string_view device_bits(DType t);

// A launch on the stream of the call being made.
struct Grid {
  unsigned x = 1, y = 1, z = 1;
  unsigned block_x = 256, block_y = 1;
};
// Enough blocks of 256 threads for n items, at most some waves of the card: kernels loop.
Grid grid_for(Gpu& gpu, int64_t n);
// A thread for each vector, and one for each element left over.
Grid one_each(int64_t n, int vector);
constexpr int kVectorBytes = 16;  // of one load
bool aligned(std::initializer_list<const void*> pointers);
// kEarly: in a recording a kernel may be on the card before the one it follows has ended; it must
// begin with wait_for_previous().
enum class Start { kInTurn, kEarly };
void launch(Gpu& gpu, CUfunction f, const Grid& grid, void** args, Start start = Start::kInTurn);

template <class... Args>
void launch_kernel(Gpu& gpu, CUfunction f, const Grid& grid, Args... args) {
  void* pointers[] = {static_cast<void*>(&args)...};
  launch(gpu, f, grid, pointers);
}
template <class... Args>
void launch_early(Gpu& gpu, CUfunction f, const Grid& grid, Args... args) {
  void* pointers[] = {static_cast<void*>(&args)...};
  launch(gpu, f, grid, pointers, Start::kEarly);
}

// Operands that broadcast to `result`, dimensions merged where all treat them alike. Unimplemented
// beyond 8 dimensions that can't be merged.
Strides broadcast_strides(const Shape& result, std::initializer_list<const Shape*> operands);
// Walks `dims` with `strides` in elements, merged.
Strides merged(std::span<const int64_t> dims, std::span<const int64_t> strides);
// … with strides of two operands.
Strides merged(std::span<const int64_t> dims, std::span<const int64_t> first,
               std::span<const int64_t> second);
// Counts `s`, of one operand with elements of `size` bytes, and `base` in units of 16 bytes, if all
// of it falls on their edges.
bool widen(Strides& s, int64_t& base, int64_t size);
Shape broadcast_shape(const Shape& a, const Shape& b);

// Fills `out` with one element that lies at `value` in host memory.
void fill_from_host(Gpu& gpu, Tensor& out, const void* value);

// Fills memory with numbers like those of real use, to try algorithms on: a card runs faster on zeros.
void fill_with_noise(Gpu& gpu, void* memory, size_t bytes, DType dtype, cudaStream_t stream);

// Goes on with a call when the host knows what the card has written at `from`: the call is suspended
// until then, and no thread waits. `then` gets the bytes, on the same queue; what it needs of scratch
// memory it must own (scratch()), since other calls may come between. The last thing a call does.
using GoOn = std::function<void(KernelContext&, const void* bytes)>;
void read_then(KernelContext& c, Gpu& gpu, const void* from, size_t bytes, GoOn then);
template <class T, class Then>
void read_number_then(KernelContext& c, Gpu& gpu, const void* from, Then then) {
  read_then(c, gpu, from, sizeof(T), [then = std::move(then)](KernelContext& context, const void* at) {
    then(context, *static_cast<const T*>(at));
  });
}
// … an index of 4 or 8 bytes.
template <class Then>
void read_index_then(KernelContext& c, Gpu& gpu, DType type, const void* from, Then then) {
  if (dtype_size(type) == 4) read_number_then<int32_t>(c, gpu, from, std::move(then));
  else read_number_then<int64_t>(c, gpu, from, std::move(then));
}
// Scratch memory that lasts as long as it is held.
BufferPtr scratch(Gpu& gpu, size_t bytes);

// Integers of a host-memory argument.
std::vector<int64_t> host_ints(const Tensor& t);

inline const std::vector<DType> kFloats{DType::kHalf, DType::kBfloat16, DType::kFloat,
                                        DType::kDouble};
inline const std::vector<DType> kComplexes{DType::kComplex64, DType::kComplex128};
const std::vector<DType>& real_types();    // floats and whole numbers
const std::vector<DType>& number_types();  // … and complex ones

KernelRow cuda_row(std::string op, KernelFactory make, std::vector<TypeConstraint> types = {},
                   KernelTraits traits = {});

}  // namespace emplace::cuda
