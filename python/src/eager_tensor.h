#pragma once
#include <Python.h>

#include "emplace/eager.h"
#include "emplace/tensor.h"

// Eager tensors as Python objects: a C type, so that an operator makes no Python frame.
namespace emplace::python {

struct EagerTensor {
  PyObject_HEAD
  PyObject* shape;     // TensorShape, made when first asked for
  PyObject* assign;    // of a variable's slice: the function that assigns to it
  PyObject* weakrefs;
  PyObject* dict;      // attributes that a program sets, once there is one
  PyObject* cpu;       // name of the CPU it was made on, where that is not the first
  Tensor value;
};

// The type, once the Python side has made it; else null.
extern PyTypeObject* eager_type;

inline bool is_eager(PyObject* o) { return Py_TYPE(o) == eager_type; }
inline const Tensor& value_of(PyObject* o) { return reinterpret_cast<EagerTensor*>(o)->value; }

// A new object; null with a Python error when there is no memory.
PyObject* wrap(Tensor&& value, const std::string* other_cpu = nullptr) noexcept;

// The engine that runs eager operations, once it has started; else null.
Eager* engine();
void set_engine(Eager* e);

// A Python number as a scalar of that dtype; no value when it does not fit without a second look.
Tensor scalar_of(PyObject* number, DType dtype);

// Makes the type below the Python class `base`. `make_shape`: list -> TensorShape.
PyObject* make_eager_type(PyObject* base, PyObject* make_shape);

}  // namespace emplace::python
