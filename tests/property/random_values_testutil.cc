#include "random_values_testutil.h"

#include <cstring>

namespace emplace::testing {
namespace {

template <class T>
void fill(Random& r, Tensor& t) {
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const float v = static_cast<float>(r.between(-12, 12)) / 4;
    if constexpr (std::is_same_v<T, bool>) t.data<T>()[i] = v > 0;
    else if constexpr (std::is_same_v<T, std::string>)
      t.data<T>()[i] = std::string(1, static_cast<char>('a' + r.below(20)));
    else if constexpr (std::is_unsigned_v<T>) t.data<T>()[i] = static_cast<T>(v < 0 ? -v : v);
    else t.data<T>()[i] = static_cast<T>(v);
  }
}

}  // namespace

Tensor random_tensor(Random& r, DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  switch (dtype) {
    case DType::kFloat: fill<float>(r, t); break;
    case DType::kDouble: fill<double>(r, t); break;
    case DType::kInt8: fill<int8_t>(r, t); break;
    case DType::kInt16: fill<int16_t>(r, t); break;
    case DType::kInt32: fill<int32_t>(r, t); break;
    case DType::kInt64: fill<int64_t>(r, t); break;
    case DType::kUint8: fill<uint8_t>(r, t); break;
    case DType::kUint16: fill<uint16_t>(r, t); break;
    case DType::kUint32: fill<uint32_t>(r, t); break;
    case DType::kUint64: fill<uint64_t>(r, t); break;
    case DType::kBool: fill<bool>(r, t); break;
    case DType::kHalf: fill<Half>(r, t); break;
    case DType::kBfloat16: fill<Bfloat16>(r, t); break;
    case DType::kComplex64: fill<Complex64>(r, t); break;
    case DType::kComplex128: fill<Complex128>(r, t); break;
    case DType::kString: fill<std::string>(r, t); break;
    default: throw internal_error("no random values of this dtype");
  }
  return t;
}

Tensor small_integers(Random& r, DType dtype, const Shape& shape, int low, int high) {
  Tensor t(dtype, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int v = r.between(low, high);
    if (dtype == DType::kInt64) t.data<int64_t>()[i] = v;
    else t.data<int32_t>()[i] = v;
  }
  return t;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::kString)
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.num_elements(),
                      b.data<std::string>());
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

std::string describe(const Tensor& t) {
  if (!t.has_value()) return "nothing";
  return std::string(dtype_name(t.dtype())) + t.shape().str() + ": " + t.summary(24);
}

}  // namespace emplace::testing
