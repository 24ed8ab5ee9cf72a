#include "numpy_tensor.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <array>
#include <cstring>
#include <limits>

#include "gil.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr size_t kSmall = 512;  // bytes

struct TypePair {
  DType dtype;
  int numpy;
};

constexpr TypePair kTypes[] = {
    {DType::kFloat, NPY_FLOAT32},    {DType::kDouble, NPY_FLOAT64},
    {DType::kInt32, NPY_INT32},      {DType::kUint8, NPY_UINT8},
    {DType::kInt16, NPY_INT16},      {DType::kInt8, NPY_INT8},
    {DType::kComplex64, NPY_COMPLEX64}, {DType::kInt64, NPY_INT64},
    {DType::kBool, NPY_BOOL},        {DType::kUint16, NPY_UINT16},
    {DType::kComplex128, NPY_COMPLEX128}, {DType::kHalf, NPY_FLOAT16},
    {DType::kUint32, NPY_UINT32},    {DType::kUint64, NPY_UINT64},
    {DType::kQint8, NPY_INT8},       {DType::kQuint8, NPY_UINT8},
    {DType::kQint32, NPY_INT32},     {DType::kQint16, NPY_INT16},
    {DType::kQuint16, NPY_UINT16},
};

// ml_dtypes' bfloat16, when that package is there; else null.
PyArray_Descr* bfloat16_descr() {
  // Not made by the static's own initialiser: other threads would wait in it with the GIL, which
  // an import lets go.
  static PyArray_Descr* descr = nullptr;
  static bool known = false;
  if (known) return descr;
  if (PyObject* const module = PyImport_ImportModule("ml_dtypes")) {
    PyArray_Descr* found = nullptr;
    PyObject* const type = PyObject_GetAttrString(module, "bfloat16");
    if (type) PyArray_DescrConverter(type, &found);
    descr = found;
  }
  PyErr_Clear();
  known = true;
  return descr;
}

Shape shape_of(PyArrayObject* a) {
  Shape s;
  for (int i = 0; i < PyArray_NDIM(a); ++i) s.push_back(PyArray_DIM(a, i));
  return s;
}

std::string bytes_of(PyObject* item) {
  if (PyBytes_Check(item)) return {PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item))};
  if (PyUnicode_Check(item)) {
    Py_ssize_t n = 0;
    const char* text = PyUnicode_AsUTF8AndSize(item, &n);
    if (!text) throw nb::python_error();
    return {text, static_cast<size_t>(n)};
  }
  PyErr_Format(PyExc_TypeError, "Expected binary or unicode string, got %R", item);
  throw nb::python_error();
}

Tensor strings_from(PyArrayObject* a) {
  Tensor t(DType::kString, shape_of(a));
  nb::object flat = nb::steal(PyArray_Ravel(a, NPY_CORDER));
  if (!flat) throw nb::python_error();
  auto* f = reinterpret_cast<PyArrayObject*>(flat.ptr());
  for (npy_intp i = 0; i < PyArray_SIZE(f); ++i) {
    nb::object item = nb::steal(PyArray_GETITEM(f, static_cast<char*>(PyArray_GETPTR1(f, i))));
    if (!item) throw nb::python_error();
    t.data<std::string>()[i] = bytes_of(item.ptr());
  }
  return t;
}

constexpr int64_t kLook = 1 << 16;  // texts between two looks for Ctrl-C

nb::object strings_to(const Tensor& t) {
  std::vector<npy_intp> dims(t.shape().begin(), t.shape().end());
  nb::object array = nb::steal(PyArray_SimpleNew(static_cast<int>(dims.size()), dims.data(), NPY_OBJECT));
  if (!array) throw nb::python_error();
  auto** items = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const std::string& s = t.data<std::string>()[i];
    PyObject* item = PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
    if (!item) throw nb::python_error();
    Py_XSETREF(items[i], item);
    if (i % kLook == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return array;
}

void release_tensor(PyObject* capsule) {
  delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, nullptr));
}

}  // namespace

template <class T>
Tensor whole_number(PyObject* value) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0 || v < std::numeric_limits<T>::min() || v > std::numeric_limits<T>::max())
    return {};
  return Tensor::scalar(static_cast<T>(v));
}

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

int numpy_type(DType dtype) {
  static const std::array<int, 64> numbers = [] {
    std::array<int, 64> found;
    found.fill(-1);
    for (const TypePair& p : kTypes) found[static_cast<size_t>(p.dtype)] = p.numpy;
    return found;
  }();
  if (const int number = numbers[static_cast<size_t>(dtype) % 64]; number >= 0) return number;
  if (dtype == DType::kString) return NPY_OBJECT;
  if (dtype == DType::kBfloat16 && bfloat16_descr()) return bfloat16_descr()->type_num;
  return -1;
}

DType dtype_of_array(PyObject* object) {
  auto* a = reinterpret_cast<PyArrayObject*>(object);
  const int type = PyArray_TYPE(a);
  for (const TypePair& p : kTypes)
    if (p.numpy == type) return p.dtype;
  switch (type) {
    case NPY_OBJECT: case NPY_STRING: case NPY_UNICODE:
      return DType::kString;
    case NPY_LONGLONG:
      return DType::kInt64;
    case NPY_ULONGLONG:
      return DType::kUint64;
  }
  if (bfloat16_descr() && type == bfloat16_descr()->type_num) return DType::kBfloat16;
  return DType::kInvalid;
}

Tensor from_array(PyObject* object) {
  if (!PyArray_Check(object)) {
    PyErr_Format(PyExc_TypeError, "expected a NumPy array, got %R", Py_TYPE(object));
    throw nb::python_error();
  }
  auto* a = reinterpret_cast<PyArrayObject*>(object);
  const DType dtype = dtype_of_array(object);
  if (dtype == DType::kInvalid) {
    PyErr_Format(PyExc_TypeError, "Unsupported numpy type: %S", reinterpret_cast<PyObject*>(PyArray_DESCR(a)));
    throw nb::python_error();
  }
  if (dtype == DType::kString) return strings_from(a);
  nb::object plain = nb::borrow(object);
  if (!PyArray_IS_C_CONTIGUOUS(a) || !PyArray_ISALIGNED(a) || !PyArray_ISNOTSWAPPED(a)) {
    plain = nb::steal(PyArray_FromArray(a, PyArray_DescrNewByteorder(PyArray_DESCR(a), NPY_NATIVE),
                                        NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY));
    if (!plain) throw nb::python_error();
    a = reinterpret_cast<PyArrayObject*>(plain.ptr());
  }
  PyObject* keep = plain.release().ptr();
  return Tensor::borrow(dtype, shape_of(a), PyArray_DATA(a), [keep] { let_go(keep); });
}

Tensor number_tensor(PyObject* value, DType dtype) {
  if (PyBool_Check(value)) return dtype == DType::kBool ? Tensor::scalar(value == Py_True) : Tensor();
  if (dtype == DType::kFloat || dtype == DType::kDouble) {
    const double v = PyFloat_AsDouble(value);
    if (v == -1 && PyErr_Occurred()) return {};
    if (dtype == DType::kDouble) return Tensor::scalar(v);
    return Tensor::scalar(static_cast<float>(v));
  }
  if (!PyLong_CheckExact(value)) return {};
  if (dtype == DType::kInt32) return whole_number<int32_t>(value);
  if (dtype == DType::kInt64) return whole_number<int64_t>(value);
  return {};
}

// A NumPy scalar of that dtype.
static Tensor scalar_tensor(PyObject* value, DType dtype) {
  if (dtype == DType::kString || dtype == DType::kBfloat16) return {};
  PyArray_Descr* descr = PyArray_DescrFromScalar(value);
  const bool same = descr && descr->type_num == numpy_type(dtype);
  Py_XDECREF(descr);
  if (!same) return {};
  Tensor t(dtype, Shape());
  PyArray_ScalarAsCtype(value, t.raw());
  return t;
}

DType float_scalar_type(PyObject* value) {
  if (Py_TYPE(value) == &PyFloatArrType_Type) return DType::kFloat;
  return Py_TYPE(value) == &PyDoubleArrType_Type ? DType::kDouble : DType::kInvalid;
}

double float_scalar_value(PyObject* value) {
  if (Py_TYPE(value) == &PyDoubleArrType_Type) return PyFloat_AS_DOUBLE(value);
  float v = 0;
  PyArray_ScalarAsCtype(value, &v);
  return v;
}

Tensor quick_tensor(PyObject* value, DType dtype) {
  if (PyArray_CheckExact(value)) {
    auto* a = reinterpret_cast<PyArrayObject*>(value);
    if (PyArray_TYPE(a) != numpy_type(dtype) || dtype == DType::kString) return {};
    if (!PyArray_ISCARRAY_RO(a)) return {};
    Py_INCREF(value);
    return Tensor::borrow(dtype, shape_of(a), PyArray_DATA(a), [value] { let_go(value); });
  }
  if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value))
    return number_tensor(value, dtype);
  return PyArray_IsScalar(value, Generic) ? scalar_tensor(value, dtype) : Tensor();
}

nb::object to_array(Tensor tensor, bool unbox) {
  nb::object array;
  if (tensor.rank() > NPY_MAXDIMS) {
    PyErr_Format(PyExc_ValueError, "number of dimensions must be within [0, %d]", NPY_MAXDIMS);
    throw nb::python_error();
  }
  if (tensor.dtype() == DType::kString) {
    array = strings_to(tensor);
  } else {
    const int type = numpy_type(tensor.dtype());
    if (type < 0 && tensor.dtype() == DType::kBfloat16) {
      PyErr_SetString(PyExc_ImportError, "NumPy has no bfloat16 without the package ml_dtypes: "
                                         "pip install ml_dtypes");
      throw nb::python_error();
    }
    if (type < 0) {
      PyErr_Format(PyExc_TypeError, "a tensor of dtype %s has no NumPy form",
                   std::string(dtype_name(tensor.dtype())).c_str());
      throw nb::python_error();
    }
    npy_intp dims[NPY_MAXDIMS];
    for (int i = 0; i < tensor.rank(); ++i) dims[i] = tensor.dim(i);
    if (tensor.rank() == 0 && unbox) {
      PyArray_Descr* descr = PyArray_DescrFromType(type);
      nb::object scalar = nb::steal(PyArray_Scalar(tensor.raw(), descr, nullptr));
      Py_DECREF(descr);
      if (!scalar) throw nb::python_error();
      return scalar;
    }
    if (tensor.bytes() <= kSmall) {  // a copy costs less than an owner
      array = nb::steal(PyArray_SimpleNew(tensor.rank(), dims, type));
      if (!array) throw nb::python_error();
      if (tensor.bytes() > 0)
        std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())), tensor.raw(),
                    tensor.bytes());
      return array;
    }
    array = nb::steal(PyArray_New(&PyArray_Type, tensor.rank(), dims, type, nullptr, tensor.raw(), 0,
                                  NPY_ARRAY_CARRAY, nullptr));
    if (!array) throw nb::python_error();
    PyObject* owner = PyCapsule_New(new Tensor(std::move(tensor)), nullptr, &release_tensor);
    if (!owner || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), owner) < 0)
      throw nb::python_error();
    return array;
  }
  if (tensor.rank() == 0 && unbox) {
    auto* a = reinterpret_cast<PyArrayObject*>(array.ptr());
    return nb::steal(PyArray_GETITEM(a, static_cast<char*>(PyArray_DATA(a))));
  }
  return array;
}

nb::object to_shared_array(Tensor tensor) {
  nb::object array = to_array(std::move(tensor), false);
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(array.ptr()), NPY_ARRAY_WRITEABLE);
  return array;
}

Tensor cast_by_numpy(const Tensor& tensor, DType dtype) {
  const nb::object from = to_array(tensor, false);
  const nb::object to = nb::steal(
      PyArray_Cast(reinterpret_cast<PyArrayObject*>(from.ptr()), numpy_type(dtype)));
  if (!to) throw nb::python_error();
  return from_array(to.ptr());
}

}  // namespace emplace::python
