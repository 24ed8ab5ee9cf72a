// Tensor::str: NumPy's text of an array.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "emplace/tensor.h"
#include "tensor/float_text.h"
#include "tensor/text.h"

namespace emplace {
namespace {

constexpr int64_t kThreshold = 1000;  // larger arrays are summarised
constexpr int64_t kEdge = 3;          // to so many items at either end of an axis
constexpr size_t kLineWidth = 75;

// Text of the element at a flat index.
using Formatter = std::function<std::string(int64_t)>;

// Brackets, line breaks and dots around the elements.
class Layout {
 public:
  Layout(const Shape& shape, const Formatter& format)
      : shape_(shape), format_(format), summarised_(shape.num_elements() > kThreshold) {}

  std::string str() const { return axis(0, 0, " ", kLineWidth); }

 private:
  bool shortened(int64_t n) const { return summarised_ && n > 2 * kEdge; }

  std::string axis(int at, int64_t row, const std::string& indent, size_t width) const {
    const std::string inner = at + 1 == shape_.rank()
                                  ? line(row * shape_[at], shape_[at], indent, width)
                                  : rows(at, row * shape_[at], indent, width);
    return "[" + inner.substr(indent.size()) + "]";
  }

  std::string rows(int at, int64_t first, const std::string& indent, size_t width) const {
    const int64_t n = shape_[at];
    const std::string separator(static_cast<size_t>(shape_.rank() - at - 1), '\n');
    std::string s;
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) s += separator;
      if (i == kEdge && shortened(n)) {
        s += indent + "..." + separator;
        i = n - kEdge;
      }
      s += indent + axis(at + 1, first + i, indent + ' ', width - 1);
    }
    return s;
  }

  std::string line(int64_t first, int64_t n, const std::string& indent, size_t width) const {
    std::string done, current = indent;
    const auto add = [&](const std::string& word) {
      if (current.size() + word.size() > width - 1 && current.size() > indent.size()) {
        done += current.substr(0, current.find_last_not_of(' ') + 1) + '\n';
        current = indent;
      }
      current += word;
    };
    for (int64_t i = 0; i < n; ++i) {
      if (i == kEdge && shortened(n)) {
        add("...");
        current += ' ';
        i = n - kEdge;
      }
      add(format_(first + i));
      if (i + 1 < n) current += ' ';
    }
    return done + current;
  }

  const Shape& shape_;
  const Formatter& format_;
  bool summarised_;
};

// Calls f with the flat index of every element that will be shown.
void for_each_shown(const Shape& shape, int at, int64_t row,
                    const std::function<void(int64_t)>& f) {
  if (at == shape.rank()) return f(row);
  const int64_t n = shape[at];
  const bool shortened = shape.num_elements() > kThreshold && n > 2 * kEdge;
  for (int64_t i = 0; i < n; ++i) {
    if (shortened && i == kEdge) i = n - kEdge;
    for_each_shown(shape, at + 1, row * n + i, f);
  }
}

template <class T, class F>
auto shown(const Tensor& t, F part) {
  std::vector<decltype(part(std::declval<T>()))> values;
  for_each_shown(t.shape(), 0, 0, [&](int64_t i) { values.push_back(part(t.data<T>()[i])); });
  return values;
}

template <class T>
Formatter floats(const Tensor& t) {
  if (t.rank() == 0) return [d = t.data<T>()](int64_t i) { return scalar_text(d[i]); };
  const std::vector<T> values = shown<T>(t, [](T v) { return v; });
  FloatFormat format(std::span<const T>(values), FloatFormat::Sign::kMinusOnly);
  return [d = t.data<T>(), format](int64_t i) { return format(d[i]); };
}

template <class T>
std::string complex_scalar(std::complex<T> v) {
  const std::string imag = scalar_text(v.imag(), false) + "j";
  if (v.real() == 0 && !std::signbit(v.real())) return imag;
  const bool has_sign = imag.front() == '-';
  return "(" + scalar_text(v.real(), false) + (has_sign ? "" : "+") + imag + ")";
}

template <class T>
Formatter complexes(const Tensor& t) {
  using C = std::complex<T>;
  if (t.rank() == 0) return [d = t.data<C>()](int64_t i) { return complex_scalar(d[i]); };
  const auto re = shown<C>(t, [](const C& v) { return v.real(); });
  const auto im = shown<C>(t, [](const C& v) { return v.imag(); });
  FloatFormat real(std::span<const T>(re), FloatFormat::Sign::kMinusOnly);
  FloatFormat imag(std::span<const T>(im), FloatFormat::Sign::kAlways);
  return [d = t.data<C>(), real, imag](int64_t i) {
    std::string im_text = imag(d[i].imag());
    im_text.insert(im_text.find_last_not_of(' ') + 1, "j");
    return real(d[i].real()) + im_text;
  };
}

template <class T>
Formatter integers(const Tensor& t) {
  size_t width = 0;
  for_each_shown(t.shape(), 0, 0, [&](int64_t i) {
    width = std::max(width, fmt::formatted_size("{}", +t.data<T>()[i]));
  });
  return [d = t.data<T>(), width](int64_t i) { return fmt::format("{:{}}", +d[i], width); };
}

Formatter bools(const Tensor& t) {
  const char* yes = t.rank() == 0 ? "True" : " True";
  return [d = t.data<bool>(), yes](int64_t i) { return d[i] ? yes : "False"; };
}

// NumPy knows bfloat16 as a guest, whose elements print by themselves.
Formatter bfloats(const Tensor& t) {
  return [d = t.data<Bfloat16>()](int64_t i) -> std::string {
    const auto v = static_cast<float>(d[i]);
    return std::isnan(v) ? "nan" : fmt::format("{:.6g}", v);
  };
}

Formatter strings(const Tensor& t) {
  return [d = t.data<std::string>()](int64_t i) { return python_bytes(d[i]); };
}

Formatter resources(const Tensor& t) {
  return [d = t.data<ResourceHandle>()](int64_t i) {
    return fmt::format("<Resource {} {}>", d[i].type_name, d[i].name);
  };
}

Formatter variants(const Tensor& t) {
  return [d = t.data<Variant>()](int64_t i) {
    return fmt::format("<Variant {}>", d[i].value ? d[i].value->type_name() : "empty");
  };
}

Formatter formatter(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat: return floats<float>(t);
    case DType::kDouble: return floats<double>(t);
    case DType::kHalf: return floats<Half>(t);
    case DType::kBfloat16: return bfloats(t);
    case DType::kComplex64: return complexes<float>(t);
    case DType::kComplex128: return complexes<double>(t);
    case DType::kBool: return bools(t);
    case DType::kInt8:
    case DType::kQint8: return integers<int8_t>(t);
    case DType::kInt16:
    case DType::kQint16: return integers<int16_t>(t);
    case DType::kInt32:
    case DType::kQint32: return integers<int32_t>(t);
    case DType::kInt64: return integers<int64_t>(t);
    case DType::kUint8:
    case DType::kQuint8: return integers<uint8_t>(t);
    case DType::kUint16:
    case DType::kQuint16: return integers<uint16_t>(t);
    case DType::kUint32: return integers<uint32_t>(t);
    case DType::kUint64: return integers<uint64_t>(t);
    case DType::kString: return strings(t);
    case DType::kResource: return resources(t);
    case DType::kVariant: return variants(t);
    case DType::kInvalid: break;
  }
  throw internal_error("a tensor of unknown dtype cannot be printed");
}

}  // namespace

std::string Tensor::str() const {
  if (!has_value()) return "<no value>";
  if (device() != nullptr)
    return fmt::format("<{} {} in a device's memory>", dtype_name(dtype_), shape_.str());
  if (elements_ == 0) return "[]";
  const Formatter format = formatter(*this);
  return rank() == 0 ? format(0) : Layout(shape_, format).str();
}

}  // namespace emplace
