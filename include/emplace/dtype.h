#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "emplace/export.h"

namespace emplace {

// TensorFlow's numbers, so that wire forms interchange.
enum class DType : uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

// Storage of 16-bit floats; arithmetic goes through float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float f) : bits(from_float(f)) {}
  explicit operator float() const { return to_float(bits); }
  static uint16_t from_float(float f);
  static float to_float(uint16_t bits);
};

struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float f) : bits(from_float(f)) {}
  explicit operator float() const {
    const uint32_t u = uint32_t{bits} << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
  static uint16_t from_float(float f) {  // round to nearest even, NaN stays NaN
    uint32_t u;
    std::memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
    return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
};

inline uint16_t Half::from_float(float f) {
  const auto h = static_cast<_Float16>(f);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

inline float Half::to_float(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;
class ResourceHandle;  // <emplace/tensor.h>
class Variant;         // <emplace/tensor.h>

// Bytes of one element as a tensor stores it (strings are std::string).
EMPLACE_API size_t dtype_size(DType t);
EMPLACE_API std::string_view dtype_name(DType t);       // "float32"
EMPLACE_API std::string_view dtype_enum_name(DType t);  // "DT_FLOAT"
EMPLACE_API std::string_view dtype_proto_name(DType t);  // "float": the name used in op signatures
EMPLACE_API DType dtype_from_name(std::string_view name);  // any of the three; kInvalid if none

inline bool is_floating(DType t) {
  return t == DType::kFloat || t == DType::kDouble || t == DType::kHalf || t == DType::kBfloat16;
}
inline bool is_complex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }
EMPLACE_API bool is_integer(DType t);  // signed and unsigned, not bool
EMPLACE_API bool is_unsigned(DType t);
// Elements can be copied with memcpy.
inline bool is_plain(DType t) {
  return t != DType::kString && t != DType::kResource && t != DType::kVariant;
}

template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<float> { static constexpr DType value = DType::kFloat; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::kDouble; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::kInt8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::kInt16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::kInt32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::kInt64; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::kUint8; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::kUint16; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::kUint32; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::kUint64; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::kBool; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::kHalf; };
template <> struct DTypeOf<Bfloat16> { static constexpr DType value = DType::kBfloat16; };
template <> struct DTypeOf<Complex64> { static constexpr DType value = DType::kComplex64; };
template <> struct DTypeOf<Complex128> { static constexpr DType value = DType::kComplex128; };
template <> struct DTypeOf<std::string> { static constexpr DType value = DType::kString; };
template <> struct DTypeOf<ResourceHandle> { static constexpr DType value = DType::kResource; };
template <> struct DTypeOf<Variant> { static constexpr DType value = DType::kVariant; };
// clang-format on

}  // namespace emplace
