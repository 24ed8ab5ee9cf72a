#include "convert.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "numpy_tensor.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

[[noreturn]] void wrong_type(nb::handle value, const char* wanted, std::string_view name) {
  PyErr_Format(PyExc_TypeError, "Expected %s for argument '%s' not %R.", wanted,
               std::string(name).c_str(), value.ptr());
  throw nb::python_error();
}

std::string to_string(nb::handle v, std::string_view name) {
  if (PyBytes_Check(v.ptr()))
    return {PyBytes_AS_STRING(v.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(v.ptr()))};
  if (PyUnicode_Check(v.ptr())) {
    Py_ssize_t n = 0;
    const char* text = PyUnicode_AsUTF8AndSize(v.ptr(), &n);
    if (text == nullptr) throw nb::python_error();  // half a character, say
    return {text, static_cast<size_t>(n)};
  }
  wrong_type(v, "string", name);
}

int64_t to_int(nb::handle v, std::string_view name) {
  if (!PyIndex_Check(v.ptr())) wrong_type(v, "int", name);
  const nb::object index = nb::steal(PyNumber_Index(v.ptr()));
  if (!index) throw nb::python_error();
  const long long i = PyLong_AsLongLong(index.ptr());
  if (i == -1 && PyErr_Occurred()) throw nb::python_error();
  return i;
}

float to_float(nb::handle v, std::string_view name) {
  const double d = PyFloat_AsDouble(v.ptr());
  if (d == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    wrong_type(v, "float", name);
  }
  return static_cast<float>(d);
}

bool to_bool(nb::handle v, std::string_view name) {
  if (!PyBool_Check(v.ptr()) && !(PyLong_Check(v.ptr())) && !nb::hasattr(v, "dtype"))
    wrong_type(v, "bool", name);
  const int truth = PyObject_IsTrue(v.ptr());
  if (truth < 0) throw nb::python_error();  // an array of several
  return truth == 1;
}

DType to_dtype(nb::handle v, std::string_view name) {
  constexpr int kReference = 100;  // TensorFlow numbers references from here on
  constexpr int kLast = 34;
  const bool is_dtype = nb::hasattr(v, "as_datatype_enum");
  const int64_t number = is_dtype ? to_int(v.attr("as_datatype_enum"), name) : to_int(v, name);
  const int64_t plain = number > kReference ? number - kReference : number;
  if (plain < 1 || plain > kLast) wrong_type(v, "DType", name);
  return static_cast<DType>(number);
}

Tensor to_tensor(nb::handle v) { return from_array(v.ptr()).copy(); }

FunctionName to_function(nb::handle v, std::string_view name) {
  if (nb::hasattr(v, "name") && !PyUnicode_Check(v.ptr()))
    return {nb::cast<std::string>(v.attr("name")), {}};
  return {to_string(v, name), {}};
}

template <class T, class F>
AttrValue list_of(nb::handle v, std::string_view name, F f) {
  if (!PyList_Check(v.ptr()) && !PyTuple_Check(v.ptr()) && !nb::hasattr(v, "__iter__"))
    wrong_type(v, "list", name);
  std::vector<T> out;
  for (nb::handle item : nb::borrow<nb::object>(v)) out.push_back(f(item));
  return out;
}

}  // namespace

Shape to_shape(nb::handle v) {
  if (v.is_none()) return Shape::unknown();
  if (nb::hasattr(v, "rank") && nb::hasattr(v, "as_list")) {
    if (v.attr("rank").is_none()) return Shape::unknown();
    return to_shape(v.attr("as_list")());
  }
  if (PyIndex_Check(v.ptr())) return Shape{to_int(v, "shape")};
  Shape s;
  for (nb::handle d : nb::borrow<nb::object>(v)) {
    if (nb::hasattr(d, "value")) s.push_back(d.attr("value").is_none() ? -1 : to_int(d.attr("value"), "shape"));
    else s.push_back(d.is_none() ? Shape::kUnknown : to_int(d, "shape"));
    if (s.rank() > Shape::kMaxRank) throw nb::value_error("Shapes have at most 254 dimensions");
  }
  return s;
}

nb::object from_shape(const Shape& s) {
  if (!s.has_rank()) return nb::none();
  nb::list dims;
  for (const int64_t d : s.dims()) {
    if (d < 0) dims.append(nb::none());
    else dims.append(d);
  }
  return dims;
}

AttrValue to_attr(nb::handle v, AttrType type, bool list, std::string_view name) {
  switch (type) {
    case AttrType::kString:
      if (list) return list_of<std::string>(v, name, [&](nb::handle i) { return to_string(i, name); });
      return to_string(v, name);
    case AttrType::kInt:
      if (list) return list_of<int64_t>(v, name, [&](nb::handle i) { return to_int(i, name); });
      return to_int(v, name);
    case AttrType::kFloat:
      if (list) return list_of<float>(v, name, [&](nb::handle i) { return to_float(i, name); });
      return to_float(v, name);
    case AttrType::kBool:
      if (list) return list_of<bool>(v, name, [&](nb::handle i) { return to_bool(i, name); });
      return to_bool(v, name);
    case AttrType::kType:
      if (list) return list_of<DType>(v, name, [&](nb::handle i) { return to_dtype(i, name); });
      return to_dtype(v, name);
    case AttrType::kShape:
      if (list) return list_of<Shape>(v, name, [&](nb::handle i) { return to_shape(i); });
      return to_shape(v);
    case AttrType::kTensor:
      if (list) return list_of<Tensor>(v, name, [&](nb::handle i) { return to_tensor(i); });
      return to_tensor(v);
    case AttrType::kFunc:
      if (list) return list_of<FunctionName>(v, name, [&](nb::handle i) { return to_function(i, name); });
      return to_function(v, name);
  }
  return {};
}

namespace {

nb::object py(const std::string& v) { return nb::bytes(v.data(), v.size()); }
nb::object py(int64_t v) { return nb::int_(v); }
nb::object py(float v) { return nb::float_(v); }
nb::object py(bool v) { return nb::bool_(v); }
nb::object py(DType v) { return nb::int_(static_cast<int>(v)); }
nb::object py(const Shape& v) { return from_shape(v); }
nb::object py(const Tensor& v) { return to_array(v.copy(), false); }
nb::object py(const FunctionName& v) { return nb::str(v.name.c_str()); }
nb::object py(std::monostate) { return nb::none(); }
template <class T>
nb::object py(const std::vector<T>& v) {
  nb::list out;
  for (const auto& i : v) out.append(py(static_cast<T>(i)));
  return out;
}

}  // namespace

nb::object from_attr(const AttrValue& value) {
  return std::visit([](const auto& v) { return py(v); }, value.value());
}

}  // namespace emplace::python
