#include <nanobind/nanobind.h>

#include "emplace/error.h"
#include "front.h"
#include "module.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// (code, message, node, op, device, source) -> exception; set by the Python side.
PyObject* make_exception = nullptr;
PyObject* trimmer = nullptr;  // traceback -> the part of it that is the user's, or None

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    const nb::object exception = exception_of(e);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

}  // namespace

nb::object exception_of(const Error& e) {
  if (!make_exception) return nb::handle(PyExc_RuntimeError)(e.what());
  return nb::borrow(make_exception)(
      static_cast<int>(e.code()), nb::str(e.message().c_str(), e.message().size()),
      nb::str(e.node().c_str()), nb::str(e.op().c_str()), nb::str(e.device().c_str()),
      nb::str(e.source().c_str()));
}

// TensorFlow says ValueError where the engine refuses a node.
void set_building_error(const Error& e) {
  if (e.code() == Code::kInvalidArgument || e.code() == Code::kAlreadyExists) {
    PyErr_SetString(PyExc_ValueError, e.message().c_str());
  } else if (e.code() == Code::kFailedPrecondition &&
             e.message().find("finalized") != std::string::npos) {
    PyErr_SetString(PyExc_RuntimeError, e.message().c_str());
  } else {
    const nb::object exception = exception_of(e);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

void trim_traceback() {
  if (trimmer == nullptr) return;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) {
    PyObject* kept = PyObject_CallOneArg(trimmer, traceback);
    if (kept == nullptr) {
      PyErr_Clear();
    } else {
      PyException_SetTraceback(value, kept);
      Py_DECREF(traceback);
      traceback = kept != Py_None ? kept : nullptr;
      if (traceback == nullptr) Py_DECREF(kept);
    }
  }
  PyErr_Restore(type, value, traceback);
}

void bind_errors(nb::module_& m) {
  nb::register_exception_translator(&translate);
  m.def("set_traceback_trimmer", [](nb::object trim) {
    trimmer = kept_by_module("_traceback_trimmer", trim);
  });
  m.def("set_exception_factory", [](nb::object factory) {
    make_exception = kept_by_module("_exception_factory", factory);
  });
}

}  // namespace emplace::python
