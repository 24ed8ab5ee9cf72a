#include "backends/cpu/layout.h"

#include "backends/cpu/loops.h"

namespace emplace::cpu {
namespace {

using SmallFloats = Types<Half, Bfloat16>;

template <class From, class To>
void convert(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(static_cast<float>(from[i]));
}

std::vector<int> turned(int rank, bool to_last) {
  std::vector<int> perm = {0};
  if (!to_last) perm.push_back(rank - 1);
  for (int i = to_last ? 2 : 1; i < (to_last ? rank : rank - 1); ++i) perm.push_back(i);
  if (to_last) perm.push_back(1);
  return perm;
}

}  // namespace

Shape channels_last(const Shape& s) {
  Shape to{s[0]};
  for (int i = 2; i < s.rank(); ++i) to.push_back(s[i]);
  to.push_back(s[1]);
  return to;
}

Tensor channels_last(KernelContext& c, const Tensor& t) {
  Tensor to = c.temp(t.dtype(), channels_last(t.shape()));
  transpose_elements(c, t, turned(t.rank(), true), to);
  return to;
}

void put_channels_first(KernelContext& c, const Tensor& t, Tensor& out) {
  transpose_elements(c, t, turned(t.rank(), false), out);
}

DType widened(DType dtype) {
  return dtype == DType::kHalf || dtype == DType::kBfloat16 ? DType::kFloat : dtype;
}

Tensor widened(KernelContext& c, const Tensor& t) {
  if (widened(t.dtype()) == t.dtype()) return t;
  Tensor to = c.temp(DType::kFloat, t.shape());
  visit_dtype(t.dtype(), SmallFloats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto loop = best<convert<T, float>>();
    c.parallel_for(t.num_elements(), 0.5, [&](int64_t b, int64_t e) {
      loop(t.data<T>() + b, to.data<float>() + b, e - b);
    });
  });
  return to;
}

void narrow(KernelContext& c, const Tensor& t, Tensor& out) {
  visit_dtype(out.dtype(), SmallFloats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto loop = best<convert<float, T>>();
    c.parallel_for(t.num_elements(), 0.5, [&](int64_t b, int64_t e) {
      loop(t.data<float>() + b, out.data<T>() + b, e - b);
    });
  });
}

WideOutput::WideOutput(KernelContext& c, Tensor& out, bool channels_first)
    : c_(c),
      out_(out),
      first_(channels_first),
      same_(!channels_first && widened(out.dtype()) == out.dtype()) {
  if (!same_)
    scratch_ = c.temp(widened(out.dtype()), first_ ? channels_last(out.shape()) : out.shape());
}

void WideOutput::finish() {
  if (same_) return;
  if (widened(out_.dtype()) == out_.dtype()) return put_channels_first(c_, scratch_, out_);
  if (!first_) return narrow(c_, scratch_, out_);
  Tensor wide = c_.temp(scratch_.dtype(), out_.shape());
  put_channels_first(c_, scratch_, wide);
  narrow(c_, wide, out_);
}

Tensor wide_input(KernelContext& c, const Tensor& t, bool channels_first) {
  const Tensor turned = channels_first ? channels_last(c, t) : t;
  return widened(c, turned);
}

}  // namespace emplace::cpu
