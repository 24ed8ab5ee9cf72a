#pragma once
#include <string>
#include <vector>

#include "emplace/tensor.h"

namespace emplace::cpu {

template <class T>
struct Tag {
  using type = T;
};

// A list of element types: says what a kernel takes, and drives `visit_dtype`.
template <class... Ts>
struct Types {
  static std::vector<DType> dtypes() { return {DTypeOf<Ts>::value...}; }
};

template <class A, class B>
struct JoinTypes;
template <class... As, class... Bs>
struct JoinTypes<Types<As...>, Types<Bs...>> {
  using type = Types<As..., Bs...>;
};
template <class A, class B>
using Join = typename JoinTypes<A, B>::type;

using Floats = Types<float, double, Half, Bfloat16>;
using Complexes = Types<Complex64, Complex128>;
using SignedInts = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedInts = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using Ints = Join<SignedInts, UnsignedInts>;
using Reals = Join<Floats, Ints>;
using Numbers = Join<Reals, Complexes>;
using FloatsAndComplexes = Join<Floats, Complexes>;
using Plain = Join<Numbers, Types<bool>>;
using Everything = Join<Plain, Types<std::string, ResourceHandle, Variant>>;

// Calls f(Tag<T>{}) for the T of the list that `dtype` names.
template <class... Ts, class F>
void visit_dtype(DType dtype, Types<Ts...>, F&& f) {
  const bool found = ((DTypeOf<Ts>::value == dtype ? (f(Tag<Ts>{}), true) : false) || ...);
  if (!found) throw unimplemented("no kernel for dtype " + std::string(dtype_name(dtype)));
}

// Moving elements needs their size only: the plain dtypes of 1, 2, 4, 8 and 16 bytes share code.
struct Bytes16 {
  uint64_t a, b;
};
template <class F>
void visit_storage(DType dtype, F&& f) {
  if (dtype == DType::kString) return f(Tag<std::string>{});
  if (dtype == DType::kResource) return f(Tag<ResourceHandle>{});
  if (dtype == DType::kVariant) return f(Tag<Variant>{});
  switch (dtype_size(dtype)) {
    case 1: return f(Tag<uint8_t>{});
    case 2: return f(Tag<uint16_t>{});
    case 4: return f(Tag<uint32_t>{});
    case 8: return f(Tag<uint64_t>{});
    case 16: return f(Tag<Bytes16>{});
    default: throw unimplemented("no kernel for dtype " + std::string(dtype_name(dtype)));
  }
}

}  // namespace emplace::cpu
