#include "list_tensor.h"

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "numpy_tensor.h"

namespace emplace::python {
namespace {

constexpr int kDeepest = 32;

// Lists are looked at twice: at what is in them, then to read it. No Python code runs between, so
// they stay as they were.
struct Contents {
  Shape shape;
  bool whole = false, fraction = false, truth = false, complex = false, text = false;
  bool single = false, twice = false;  // NumPy's float32 and float64
  bool narrow = true;  // every whole number fits 32 bits

  int kinds() const { return (whole || fraction) + truth + complex + text + single + twice; }
};

bool is_list(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

// The sizes of the first list at each depth.
bool find_shape(PyObject* v, Shape& shape) {
  while (is_list(v)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(v);
    if (n == 0 || shape.rank() == kDeepest) return false;
    shape.push_back(n);
    v = PySequence_Fast_ITEMS(v)[0];
  }
  return shape.rank() > 0;
}

bool look_at_leaf(PyObject* leaf, Contents& c) {
  PyTypeObject* const type = Py_TYPE(leaf);
  if (type == &PyFloat_Type) return c.fraction = true;
  if (type == &PyLong_Type) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(leaf, &overflow);
    c.narrow = c.narrow && v == static_cast<int32_t>(v);
    c.whole = true;
    return overflow == 0;
  }
  if (type == &PyBool_Type) return c.truth = true;
  if (type == &PyUnicode_Type || type == &PyBytes_Type) return c.text = true;
  if (const DType numpy = float_scalar_type(leaf); numpy != DType::kInvalid)
    return (numpy == DType::kFloat ? c.single : c.twice) = true;
  return type == &PyComplex_Type && (c.complex = true);
}

// Calls `read` with each leaf, in order; false as soon as it says so or a list has another size.
template <class F>
bool each_leaf(PyObject* v, const Shape& shape, int depth, const F& read) {
  if (!is_list(v) || PySequence_Fast_GET_SIZE(v) != shape.dim(depth)) return false;
  PyObject* const* items = PySequence_Fast_ITEMS(v);
  const int64_t n = shape.dim(depth);
  const bool last = depth + 1 == shape.rank();
  for (int64_t i = 0; i < n; ++i)
    if (!(last ? read(items[i]) : each_leaf(items[i], shape, depth + 1, read))) return false;
  return true;
}

// What TensorFlow takes them for; kInvalid where they are of several kinds.
DType dtype_of(const Contents& c) {
  if (c.kinds() != 1) return DType::kInvalid;
  if (c.fraction || c.single) return DType::kFloat;
  if (c.twice) return DType::kDouble;
  if (c.whole) return c.narrow ? DType::kInt32 : DType::kInt64;
  return c.text ? DType::kString : c.truth ? DType::kBool : DType::kComplex128;
}

bool holds(DType dtype, const Contents& c) {
  if (c.kinds() != 1) return false;
  if (c.text) return dtype == DType::kString;
  if (c.truth) return dtype == DType::kBool;
  if (c.complex) return is_complex(dtype);
  return is_floating(dtype) || (is_integer(dtype) && c.whole && !c.fraction);
}

bool read(PyObject* leaf, std::string& to) {
  if (PyBytes_CheckExact(leaf)) {
    to.assign(PyBytes_AS_STRING(leaf), static_cast<size_t>(PyBytes_GET_SIZE(leaf)));
    return true;
  }
  Py_ssize_t n = 0;
  const char* text = PyUnicode_AsUTF8AndSize(leaf, &n);
  if (text) to.assign(text, static_cast<size_t>(n));
  else PyErr_Clear();  // half a character, say
  return text != nullptr;
}

bool read(PyObject* leaf, bool& to) { return to = leaf == Py_True, true; }

template <class T>
  requires std::is_floating_point_v<T>
bool read(PyObject* leaf, T& to) {
  to = static_cast<T>(PyFloat_Check(leaf)  ? PyFloat_AS_DOUBLE(leaf)  // NumPy's float64 is one
                      : PyLong_Check(leaf) ? PyLong_AsDouble(leaf)
                                           : float_scalar_value(leaf));
  return true;
}

template <class T>
bool read(PyObject* leaf, std::complex<T>& to) {
  const Py_complex c = PyComplex_AsCComplex(leaf);
  return to = {static_cast<T>(c.real), static_cast<T>(c.imag)}, true;
}

template <class T>
  requires std::is_integral_v<T>
bool read(PyObject* leaf, T& to) {
  const long long v = PyLong_AsLongLong(leaf);
  to = static_cast<T>(v);
  return static_cast<long long>(to) == v && (std::is_signed_v<T> || v >= 0);
}

// A finite number that float32 doesn't hold is refused where nobody asked for float32.
bool beyond_float(PyObject* leaf, float read) {
  return std::isinf(read) && PyFloat_CheckExact(leaf) && std::isfinite(PyFloat_AS_DOUBLE(leaf));
}

template <class T>
Tensor filled(PyObject* values, DType dtype, const Shape& shape, bool careful) {
  Tensor t(dtype, shape);
  T* to = t.data<T>();
  const bool all = each_leaf(values, shape, 0, [&](PyObject* leaf) {
    if (!read(leaf, *to)) return false;
    if constexpr (std::is_same_v<T, float>)
      if (careful && beyond_float(leaf, *to)) return false;
    ++to;
    return true;
  });
  return all ? t : Tensor();
}

}  // namespace

Tensor list_tensor(PyObject* values, DType wanted) {
  if (!is_list(values)) return {};
  Contents c;
  if (!find_shape(values, c.shape)) return {};
  if (!each_leaf(values, c.shape, 0, [&c](PyObject* leaf) { return look_at_leaf(leaf, c); }))
    return {};
  const bool free = wanted == DType::kInvalid;
  const DType dtype = free ? dtype_of(c) : wanted;
  if (dtype == DType::kInvalid || !holds(dtype, c)) return {};
  switch (dtype) {
    case DType::kFloat: return filled<float>(values, dtype, c.shape, free);
    case DType::kDouble: return filled<double>(values, dtype, c.shape, false);
    case DType::kBool: return filled<bool>(values, dtype, c.shape, false);
    case DType::kString: return filled<std::string>(values, dtype, c.shape, false);
    case DType::kComplex64: return filled<std::complex<float>>(values, dtype, c.shape, false);
    case DType::kComplex128: return filled<std::complex<double>>(values, dtype, c.shape, false);
    case DType::kInt8: return filled<int8_t>(values, dtype, c.shape, false);
    case DType::kInt16: return filled<int16_t>(values, dtype, c.shape, false);
    case DType::kInt32: return filled<int32_t>(values, dtype, c.shape, false);
    case DType::kInt64: return filled<int64_t>(values, dtype, c.shape, false);
    case DType::kUint8: return filled<uint8_t>(values, dtype, c.shape, false);
    case DType::kUint16: return filled<uint16_t>(values, dtype, c.shape, false);
    case DType::kUint32: return filled<uint32_t>(values, dtype, c.shape, false);
    case DType::kHalf: case DType::kBfloat16: {
      // Rounded once, by NumPy, where it knows the dtype.
      if (numpy_type(dtype) < 0) return {};
      const Tensor wide = filled<double>(values, DType::kDouble, c.shape, false);
      return wide.has_value() ? cast_by_numpy(wide, dtype) : Tensor();
    }
    default: return {};
  }
}

}  // namespace emplace::python
