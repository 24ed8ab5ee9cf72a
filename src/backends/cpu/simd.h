#pragma once
#include <type_traits>

namespace emplace::cpu {

// Does this machine have AVX2, FMA and F16C?
bool has_avx2();

// One loop, compiled for the plain instruction set and for AVX2: `best<f>()` is the pointer to the
// copy of f that suits this machine. Everything f calls is inlined into the copy, so f should be a
// leaf: a loop over elements.
template <auto F>
struct Copies;

template <class... Args, void (*F)(Args...)>
struct Copies<F> {
#if defined(__x86_64__)
  [[gnu::target("avx2,fma,f16c,bmi,bmi2"), gnu::flatten]] static void avx2(Args... args) {
    F(args...);
  }
  static auto pick() { return has_avx2() ? &avx2 : F; }
#else
  static auto pick() { return F; }
#endif
};

template <auto F>
auto best() {
  return Copies<F>::pick();
}

}  // namespace emplace::cpu
