// Tensor::summary: a few elements on one line, as in node definitions.
#include <fmt/format.h>

#include <algorithm>

#include "emplace/tensor.h"
#include "tensor/text.h"

namespace emplace {
namespace {

std::string element_text(float v) { return number_text(v); }
std::string element_text(double v) { return number_text(v); }
std::string element_text(Half v) { return number_text(static_cast<float>(v)); }
std::string element_text(Bfloat16 v) { return number_text(static_cast<float>(v)); }
std::string element_text(const Complex64& v) { return "(" + element_text(v.real()) + "," + element_text(v.imag()) + ")"; }
std::string element_text(const Complex128& v) { return "(" + element_text(v.real()) + "," + element_text(v.imag()) + ")"; }
std::string element_text(const std::string& v) { return c_escaped(v); }
std::string element_text(const ResourceHandle& v) {
  return fmt::format("ResourceHandle(name=\"{}\", device=\"{}\", container=\"{}\", type=\"{}\")",
                     v.name, v.device, v.container, v.type_name);
}
std::string element_text(const Variant& v) {
  return fmt::format("<Variant {}>", v.value ? v.value->type_name() : "empty");
}
template <class T>
requires std::is_integral_v<T> std::string element_text(T v) {
  return std::to_string(v);  // true is 1
}

// Row by row, in brackets but for the outermost, until so many elements are written; or all in a line.
template <class T>
struct Rows {
  const Tensor& t;
  int64_t limit;
  bool in_line;
  int64_t done = 0;
  std::string s;

  void write(int axis) {
    if (in_line || axis + 1 >= t.rank()) return write_elements(axis);
    for (int64_t i = 0; i < t.shape().dim(axis) && done < limit; ++i) {
      s += '[';
      write(axis + 1);
      s += ']';
    }
  }
  void write_elements(int axis) {
    const int64_t n = in_line || t.rank() == 0 ? t.num_elements() : t.shape().dim(axis);
    for (int64_t i = 0; i < n; ++i) {
      if (done >= limit) {
        if (axis > 0) s += "...";
        return;
      }
      if (i > 0) s += ' ';
      s += element_text(t.data<T>()[done++]);
    }
  }
};

template <class T>
std::string joined(const Tensor& t, int64_t n, bool in_line) {
  Rows<T> rows{t, n, in_line, 0, {}};
  rows.write(0);
  return std::move(rows.s);
}

std::string joined(const Tensor& t, int64_t n, bool in_line) {
  switch (t.dtype()) {
    case DType::kFloat: return joined<float>(t, n, in_line);
    case DType::kDouble: return joined<double>(t, n, in_line);
    case DType::kHalf: return joined<Half>(t, n, in_line);
    case DType::kBfloat16: return joined<Bfloat16>(t, n, in_line);
    case DType::kComplex64: return joined<Complex64>(t, n, in_line);
    case DType::kComplex128: return joined<Complex128>(t, n, in_line);
    case DType::kBool: return joined<bool>(t, n, in_line);
    case DType::kInt8:
    case DType::kQint8: return joined<int8_t>(t, n, in_line);
    case DType::kInt16:
    case DType::kQint16: return joined<int16_t>(t, n, in_line);
    case DType::kInt32:
    case DType::kQint32: return joined<int32_t>(t, n, in_line);
    case DType::kInt64: return joined<int64_t>(t, n, in_line);
    case DType::kUint8:
    case DType::kQuint8: return joined<uint8_t>(t, n, in_line);
    case DType::kUint16:
    case DType::kQuint16: return joined<uint16_t>(t, n, in_line);
    case DType::kUint32: return joined<uint32_t>(t, n, in_line);
    case DType::kUint64: return joined<uint64_t>(t, n, in_line);
    case DType::kString: return joined<std::string>(t, n, in_line);
    case DType::kResource: return joined<ResourceHandle>(t, n, in_line);
    case DType::kVariant: return joined<Variant>(t, n, in_line);
    case DType::kInvalid: break;
  }
  return "";
}

std::string summary_of(const Tensor& t, int max_elements, bool in_line) {
  if (t.device() != nullptr) return "<on device>";
  const int64_t n = std::min<int64_t>(t.num_elements(), std::max(0, max_elements));
  return joined(t, n, in_line) + (n < t.num_elements() ? "..." : "");
}

}  // namespace

std::string Tensor::summary(int max_elements) const {
  return summary_of(*this, max_elements, true);
}

std::string summary_in_rows(const Tensor& t, int max_elements) {
  return summary_of(t, max_elements, false);
}

}  // namespace emplace
