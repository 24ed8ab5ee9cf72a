#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/move.h"
#include "kernel/kernel.h"
#include "kernel/sparse_checks.h"

namespace emplace::cpu {

// A sparse tensor as three inputs hold it, looked at before it is read: as many indices as values,
// one number a dimension, none outside.
struct Sparse {
  Tensor indices, values;
  std::vector<int64_t> dims;

  Sparse(KernelContext& c, int indices_at, int values_at, int shape_at);
  Sparse(KernelContext& c, int first) : Sparse(c, first, first + 1, first + 2) {}

  int64_t count() const { return values.num_elements(); }
  size_t rank() const { return dims.size(); }
  const int64_t* at(int64_t i) const {
    return indices.data<int64_t>() + i * static_cast<int64_t>(rank());
  }
  int64_t index(int64_t i, size_t dim) const { return at(i)[dim]; }
  std::vector<int64_t> place(int64_t i) const { return {at(i), at(i) + rank()}; }
  // Place i in one number, the last dimension running fastest; only after `checked_size`.
  int64_t flat(int64_t i) const;
};

// Places of `rank` numbers each, side by side.
class Places {
 public:
  explicit Places(size_t rank) : rank_(rank) {}
  int64_t* add() {
    ++count_;
    numbers_.resize(numbers_.size() + rank_);
    return numbers_.data() + numbers_.size() - rank_;
  }
  int64_t* add(const int64_t* place) { return std::copy_n(place, rank_, add()) - rank_; }
  int64_t* add(const std::vector<int64_t>& place) { return add(place.data()); }
  void reserve(int64_t count) { numbers_.reserve(static_cast<size_t>(count) * rank_); }
  int64_t count() const { return count_; }
  const int64_t* operator[](int64_t i) const {
    return numbers_.data() + static_cast<size_t>(i) * rank_;
  }

 private:
  size_t rank_;
  int64_t count_ = 0;
  std::vector<int64_t> numbers_;
};

// The numbers of places of `rank` numbers each, ordered by the first `width` of these; places that
// are alike as they stand.
std::vector<int64_t> in_order(const int64_t* places, int64_t count, size_t rank, size_t width);

// Writes a sparse tensor to outputs from `first` on; the shape only where there is an output for
// it.
void put_sparse(KernelContext& c, int first, const Places& places, const std::vector<int64_t>& dims,
                const Tensor& values);

// Elements of any dtype, picked one by one: out[i] = from[order[i]].
Tensor picked(const Tensor& from, std::span<const int64_t> order);

std::vector<KernelRow> sparse_kernels();
std::vector<KernelRow> sparse_arithmetic_kernels();
std::vector<KernelRow> sparse_count_kernels();

}  // namespace emplace::cpu
