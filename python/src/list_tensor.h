#pragma once
#include <Python.h>

#include "emplace/tensor.h"

// Tensors of Python lists, without a Python call an element.
namespace emplace::python {

// The tensor of a list or tuple, nested or not, of Python numbers of one kind (whole ones beside
// fractions become fractions), truths or strings, as `wanted` (kInvalid: what TensorFlow takes the
// numbers for). No value where that needs a second look: mixed kinds, ragged or empty lists, most
// of NumPy's scalars, what `wanted` does not hold. No Python error is set. The GIL is held.
Tensor list_tensor(PyObject* values, DType wanted);

}  // namespace emplace::python
