#pragma once
#include "backends/cpu/visit.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// Moves runs of elements of one dtype, whatever it is.
class Mover {
 public:
  explicit Mover(DType dtype) : dtype_(dtype), size_(static_cast<int64_t>(dtype_size(dtype))) {}

  int64_t size() const { return size_; }  // bytes an element
  // Copies n elements: to[to_at …] = from[from_at …].
  void copy(const Tensor& to, int64_t to_at, const Tensor& from, int64_t from_at,
            int64_t n) const {
    char* p = static_cast<char*>(to.raw()) + to_at * size_;
    const char* q = static_cast<const char*>(from.raw()) + from_at * size_;
    if (is_plain(dtype_)) [[likely]]
      std::memcpy(p, q, static_cast<size_t>(n * size_));
    else
      copy_objects(p, q, n);
  }
  // Sets n elements to zero (empty strings, empty handles).
  void zero(const Tensor& to, int64_t to_at, int64_t n) const;
  // Sets n elements to one.
  void fill(const Tensor& to, int64_t to_at, int64_t n, const void* element) const;

 private:
  void copy_objects(char* to, const char* from, int64_t n) const;

  DType dtype_;
  int64_t size_;
};

// ns an element moved, for parallel_for.
inline double move_cost(DType t) { return is_plain(t) ? 0.06 * dtype_size(t) : 20; }

// An axis given as -rank … rank-1, counted from the front.
int checked_axis(int64_t axis, int rank, std::string_view what = "axis");
// The elements of an int32 or int64 tensor.
std::vector<int64_t> int_values(const Tensor& t);
// The one element of such a tensor.
int64_t int_scalar(const Tensor& t, std::string_view what);
// A 1-D (or scalar -1) tensor of sizes as a shape; InvalidArgument for negative ones.
Shape shape_from(const Tensor& t, std::string_view what = "shape");
// Writes int64 values to an int32 or int64 tensor.
void put_int(Tensor& t, int64_t i, int64_t value);

// out = in with dimensions in the order `perm`; out has its shape and memory already.
void transpose_elements(KernelContext& c, const Tensor& in, std::span<const int> perm, Tensor& out);

}  // namespace emplace::cpu
