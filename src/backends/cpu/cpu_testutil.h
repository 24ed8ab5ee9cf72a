#pragma once
#include <vector>

#include "kernel/test_kernel.h"

namespace emplace::cpu {

// The CPU's kernels behind a harness; one for all tests.
TestKernels& kernels();
inline Tensor op(const char* name, std::vector<Tensor> in, AttrList attrs = {}) {
  return kernels().run1(name, std::move(in), std::move(attrs));
}

template <class T>
Tensor tensor(std::initializer_list<T> values, Shape shape) {
  return Tensor::of<T>(values, std::move(shape));
}
inline Tensor floats(std::initializer_list<float> values) {
  return Tensor::of<float>(values, {static_cast<int64_t>(values.size())});
}
inline Tensor ints(std::initializer_list<int32_t> values) {
  return Tensor::of<int32_t>(values, {static_cast<int64_t>(values.size())});
}
template <class T>
std::vector<T> list(const Tensor& t) {
  auto v = t.values<T>();
  return {v.begin(), v.end()};
}

}  // namespace emplace::cpu
