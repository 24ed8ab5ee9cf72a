#pragma once
#include <Python.h>

#include <vector>

namespace emplace::python {

// Number and comparison slots of eager tensors. Where both sides are tensors of one dtype (or one
// is a plain Python number) and no graph is being built, a call goes straight to a kernel kept in
// an inline cache by (operator, dtype, device); all else, errors too, goes the long way, through
// Python functions.
void add_operator_slots(std::vector<PyType_Slot>& slots);

// {"__add__": function, "__radd__": …}: the long way.
void set_long_way(PyObject* functions);

// Empties the inline caches: another engine runs now.
void forget_operators();

}  // namespace emplace::python
