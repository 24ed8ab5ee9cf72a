#pragma once
#include <map>
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
  int64_t index(int64_t i, size_t dim) const;
  std::vector<int64_t> place(int64_t i) const;
  // Place i in one number, the last dimension running fastest; only after `checked_size`.
  int64_t flat(int64_t i) const;
};

// Writes a sparse tensor to outputs from `first` on; the shape only where there is an output for
// it.
void put_sparse(KernelContext& c, int first, const std::vector<std::vector<int64_t>>& places,
                const std::vector<int64_t>& dims, const Tensor& values);

// Elements of any dtype, picked one by one: out[i] = from[order[i]].
Tensor picked(const Tensor& from, std::span<const int64_t> order);

std::vector<KernelRow> sparse_kernels();
std::vector<KernelRow> sparse_arithmetic_kernels();
std::vector<KernelRow> sparse_count_kernels();

}  // namespace emplace::cpu
