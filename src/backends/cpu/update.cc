// Sums of many tensors; variables that are added to.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"

namespace emplace::cpu {
namespace {

// Piece by piece, so that partial sums stay in the cache.
struct AddN {
  BinaryLoop add;
  void operator()(KernelContext& c) const {
    const Tensor& first = c.input(0);
    for (int i = 1; i < c.num_inputs(); ++i)
      if (!(c.input(i).shape() == first.shape()))
        throw invalid_argument(fmt::format(
            "Inputs to operation {} of type AddN must have the same size and shape.  Input 0: {} "
            "!= input {}: {}", c.node(), first.shape().str(), i, c.input(i).shape().str()));
    Tensor& out = c.output(0, first.shape());
    if (c.num_inputs() == 1) return copy_elements(out, first);
    const auto size = static_cast<int64_t>(dtype_size(first.dtype()));
    c.parallel_for(first.num_elements(), kCheap * c.num_inputs(), [&](int64_t b, int64_t e) {
      constexpr int64_t kPiece = 4096;
      for (; b < e; b += kPiece) add_piece(c, out, b * size, std::min(kPiece, e - b));
    });
  }
  void add_piece(KernelContext& c, Tensor& out, int64_t at, int64_t n) const {
    auto in = [&](int i) { return static_cast<const char*>(c.input(i).raw()) + at; };
    char* to = static_cast<char*>(out.raw()) + at;
    add(in(0), 1, in(1), 1, to, n);
    for (int i = 2; i < c.num_inputs(); ++i) add(to, 1, in(i), 1, to, n);
  }
};

Prepared make_add_n(const KernelInit& init) { return prepared(AddN{add_loop(init.type("T"))}); }

struct Update {
  BinaryLoop loop;
  bool is_ref;
  void operator()(KernelContext& c) const {
    const Tensor& value = c.input(1);
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (t.dtype() != value.dtype() || !(t.shape() == value.shape()))
        throw invalid_argument(fmt::format(
            "Cannot update variable with shape {} using a Tensor with shape {}, shapes must be "
            "equal.", t.shape().str(), value.shape().str()));
      run_binary(c, loop, kCheap, t, value, t);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};

template <BinaryLoop (*kLoop)(DType), bool kRef>
Prepared make_update(const KernelInit& init) {
  return prepared(Update{kLoop(init.input_types[1]), kRef});
}

KernelRow row(const char* op, const char* attr, KernelFactory make) {
  return {op, "CPU", {{attr, Numbers::dtypes()}}, {}, make, {}, 0, ""};
}

}  // namespace

std::vector<KernelRow> update_kernels() {
  return {row("AddN", "T", make_add_n),
          row("AccumulateNV2", "T", make_add_n),
          row("AssignAdd", "T", make_update<add_loop, true>),
          row("AssignSub", "T", make_update<sub_loop, true>),
          row("AssignAddVariableOp", "dtype", make_update<add_loop, false>),
          row("AssignSubVariableOp", "dtype", make_update<sub_loop, false>)};
}

}  // namespace emplace::cpu
