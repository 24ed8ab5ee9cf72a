#pragma once
#include "backends/cpu/broadcast.h"
#include "backends/cpu/loops.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// Looks at all of an operand before the loop runs (zero divisors, negative exponents).
using OperandCheck = void (*)(const Tensor& second);

// Kernels around a loop: allocate, broadcast as NumPy, split over threads. `cost` is in ns an
// element. Where shapes are known the way through the operands is chosen here, once.
Prepared prepare_unary(const KernelInit& init, UnaryLoop loop, double cost);
Prepared prepare_binary(const KernelInit& init, BinaryLoop loop, double cost,
                        OperandCheck check = nullptr);

// Runs them on tensors at hand.
void run_unary(KernelContext& c, UnaryLoop loop, double cost, const Tensor& in, Tensor& out);
void run_binary(KernelContext& c, BinaryLoop loop, double cost, const Tensor& a,
                const Tensor& b, Tensor& out);

// Loops that other kernels use too.
BinaryLoop add_loop(DType dtype);
BinaryLoop sub_loop(DType dtype);

inline constexpr double kCheap = 0.25, kModerate = 2, kDear = 10;  // ns an element

// How a row's result relates to its operands.
struct SameType {
  template <class T>
  using Result = T;
};
struct ToBool {
  template <class T>
  using Result = bool;
};

template <class Op, class List, class Out = SameType>
UnaryLoop find_unary(DType dtype) {
  UnaryLoop loop = nullptr;
  visit_dtype(dtype, List{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loop = unary_loop_of<Op, T, typename Out::template Result<T>>();
  });
  return loop;
}

template <class Op, class List, class Out = SameType>
BinaryLoop find_binary(DType dtype) {
  BinaryLoop loop = nullptr;
  visit_dtype(dtype, List{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loop = binary_loop_of<Op, T, typename Out::template Result<T>>();
  });
  return loop;
}

template <class Op, class List, class Out, const double& kCost>
Prepared make_unary(const KernelInit& init) {
  return prepare_unary(init, find_unary<Op, List, Out>(init.input_types[0]), kCost);
}

template <class Op, class List, class Out, const double& kCost>
Prepared make_binary(const KernelInit& init) {
  return prepare_binary(init, find_binary<Op, List, Out>(init.input_types[0]), kCost);
}

// Rows of the kernel table: `unary<NegOp, Reals>("Neg")`.
template <class Op, class List, class Out = SameType, const double& kCost = kCheap>
KernelRow unary(const char* op) {
  return {op, "CPU", {{"T", List::dtypes()}}, {}, make_unary<Op, List, Out, kCost>,
          {.in_place = true}, 0, ""};
}

template <class Op, class List, class Out = SameType, const double& kCost = kCheap>
KernelRow binary(const char* op) {
  return {op, "CPU", {{"T", List::dtypes()}}, {}, make_binary<Op, List, Out, kCost>,
          {.in_place = true}, 0, ""};
}

}  // namespace emplace::cpu
