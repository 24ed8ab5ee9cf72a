#pragma once
#include <vector>

#include "backends/cpu/move.h"

namespace emplace::cpu {

// Kernels over images are written for channels last and for float, double and integers. These
// bring other layouts and the small floats to that form and back.

// [N, C, ...] as [N, ..., C].
Tensor channels_last(KernelContext& c, const Tensor& t);
// The shape of that.
Shape channels_last(const Shape& s);
// Writes `t`, channels last, to `out`, channels first.
void put_channels_first(KernelContext& c, const Tensor& t, Tensor& out);

// Half and bfloat16 as float; others as they are.
Tensor widened(KernelContext& c, const Tensor& t);
DType widened(DType dtype);
// Writes float values to a tensor of half or bfloat16.
void narrow(KernelContext& c, const Tensor& t, Tensor& out);

// Where a kernel writes channels last and in a wide type: `out` itself or a scratch tensor, which
// `finish` turns and rounds into `out`.
class WideOutput {
 public:
  WideOutput(KernelContext& c, Tensor& out, bool channels_first);
  Tensor& tensor() { return same_ ? out_ : scratch_; }
  void finish();

 private:
  KernelContext& c_;
  Tensor& out_;
  Tensor scratch_;
  bool first_, same_;
};

// An input in that form.
Tensor wide_input(KernelContext& c, const Tensor& t, bool channels_first);

}  // namespace emplace::cpu
