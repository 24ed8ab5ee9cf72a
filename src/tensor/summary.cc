// Tensor::summary: a few elements on one line, as in node definitions.
#include <fmt/format.h>

#include <algorithm>

#include "emplace/tensor.h"
#include "tensor/text.h"

namespace emplace {
namespace {

std::string text(float v) { return number_text(v); }
std::string text(double v) { return number_text(v); }
std::string text(Half v) { return number_text(static_cast<float>(v)); }
std::string text(Bfloat16 v) { return number_text(static_cast<float>(v)); }
std::string text(const Complex64& v) { return "(" + text(v.real()) + "," + text(v.imag()) + ")"; }
std::string text(const Complex128& v) { return "(" + text(v.real()) + "," + text(v.imag()) + ")"; }
std::string text(const std::string& v) { return c_escaped(v); }
std::string text(const ResourceHandle& v) {
  return fmt::format("ResourceHandle(name=\"{}\", device=\"{}\", container=\"{}\", type=\"{}\")",
                     v.name, v.device, v.container, v.type_name);
}
std::string text(const Variant& v) {
  return fmt::format("<Variant {}>", v.value ? v.value->type_name() : "empty");
}
template <class T>
requires std::is_integral_v<T> std::string text(T v) {
  return std::to_string(v);  // true is 1
}

template <class T>
std::string joined(const Tensor& t, int64_t n) {
  std::string s;
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) s += ' ';
    s += text(t.data<T>()[i]);
  }
  return s;
}

std::string joined(const Tensor& t, int64_t n) {
  switch (t.dtype()) {
    case DType::kFloat: return joined<float>(t, n);
    case DType::kDouble: return joined<double>(t, n);
    case DType::kHalf: return joined<Half>(t, n);
    case DType::kBfloat16: return joined<Bfloat16>(t, n);
    case DType::kComplex64: return joined<Complex64>(t, n);
    case DType::kComplex128: return joined<Complex128>(t, n);
    case DType::kBool: return joined<bool>(t, n);
    case DType::kInt8:
    case DType::kQint8: return joined<int8_t>(t, n);
    case DType::kInt16:
    case DType::kQint16: return joined<int16_t>(t, n);
    case DType::kInt32:
    case DType::kQint32: return joined<int32_t>(t, n);
    case DType::kInt64: return joined<int64_t>(t, n);
    case DType::kUint8:
    case DType::kQuint8: return joined<uint8_t>(t, n);
    case DType::kUint16:
    case DType::kQuint16: return joined<uint16_t>(t, n);
    case DType::kUint32: return joined<uint32_t>(t, n);
    case DType::kUint64: return joined<uint64_t>(t, n);
    case DType::kString: return joined<std::string>(t, n);
    case DType::kResource: return joined<ResourceHandle>(t, n);
    case DType::kVariant: return joined<Variant>(t, n);
    case DType::kInvalid: break;
  }
  return "";
}

}  // namespace

std::string Tensor::summary(int max_elements) const {
  if (device() != nullptr) return "<on device>";
  const int64_t n = std::min<int64_t>(elements_, std::max(0, max_elements));
  return joined(*this, n) + (n < elements_ ? "..." : "");
}

}  // namespace emplace
