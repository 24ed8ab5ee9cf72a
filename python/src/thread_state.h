#pragma once
#include <Python.h>

#include <cstdint>

namespace emplace::python {

// What a Python thread is doing, for checks that take no Python call. The lists belong to the
// thread's own dictionary and go with it. Needs the GIL.
struct ThreadState {
  uint64_t thread = 0;            // Python's id of the thread that the pointers belong to
  long eager = 0;                 // depth of calls from the eager namespace
  PyObject* graphs = nullptr;     // list: the graphs being built, innermost last
  PyObject* devices = nullptr;    // list of str: `with tf.device` blocks
  PyObject* recorders = nullptr;  // list: tapes that listen

  bool building_graph() const { return PyList_GET_SIZE(graphs) != 0; }
  bool recording() const { return PyList_GET_SIZE(recorders) != 0; }
  // The innermost device block's name, or null.
  PyObject* device() const {
    const Py_ssize_t n = PyList_GET_SIZE(devices);
    return n == 0 ? nullptr : PyList_GET_ITEM(devices, n - 1);
  }
};

// Of the calling thread.
ThreadState& thread_state();

// `_core.ThreadState`: a Python object whose attributes are the calling thread's.
PyObject* make_thread_state_type();

}  // namespace emplace::python
