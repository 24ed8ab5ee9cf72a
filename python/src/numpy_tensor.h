#pragma once
#include <nanobind/nanobind.h>

#include "emplace/tensor.h"

// NumPy arrays and tensors, one into the other; memory is shared where it can be.
namespace emplace::python {

// The tensor of a NumPy array (C order is made where it is missing). Shares the array's memory when
// it is aligned, and keeps the array alive. Strings and objects are copied. Throws TypeError.
Tensor from_array(PyObject* array);

// The tensor of an array or number that is of that dtype already and needs no copy (a number: a
// copy of it); else no value, and perhaps a Python error to clear.
Tensor quick_tensor(PyObject* value, DType dtype);
Tensor number_tensor(PyObject* value, DType dtype);  // of a Python number

// Whether the object is a NumPy float32 or float64, and its value; else kInvalid.
DType float_scalar_type(PyObject* value);
double float_scalar_value(PyObject* value);

// A NumPy array over the tensor's memory (strings: an object array of bytes). A scalar becomes a
// NumPy scalar when `unbox`.
nanobind::object to_array(Tensor tensor, bool unbox);

// The same, but not to be written to: what is shared with others.
nanobind::object to_shared_array(Tensor tensor);

// The tensor in another dtype, as NumPy converts numbers.
Tensor cast_by_numpy(const Tensor& tensor, DType dtype);

// NumPy's type number for a dtype and back; bfloat16 is ml_dtypes'.
int numpy_type(DType dtype);
DType dtype_of_array(PyObject* array);

void import_numpy();

}  // namespace emplace::python
