#pragma once
#include <nanobind/nanobind.h>

#include "emplace/error.h"
#include "front.h"
#include "gil.h"

namespace emplace::python {

// Calls f; a C++ exception becomes the Python one, and `failed` the result.
template <class R, class F>
R guarded_or(R failed, F f) {
  try {
    return f();
  } catch (nanobind::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    const nanobind::object exception = exception_of(e);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (abi::__forced_unwind&) {
    stop_for_good();
  }
  return failed;
}

}  // namespace emplace::python
