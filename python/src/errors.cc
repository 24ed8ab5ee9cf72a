#include <nanobind/nanobind.h>

#include "emplace/error.h"
#include "front.h"
#include "gil.h"
#include "kept_exceptions.h"
#include "module.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// (code, message, node, op, device, source) -> exception; set by the Python side.
PyObject* make_exception = nullptr;
PyObject* trimmer = nullptr;  // traceback -> the part of it that is the user's, or None

// A message may quote what a user gave: any bytes.
nb::object text_of(std::string_view text) {
  const auto n = static_cast<Py_ssize_t>(text.size());
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), n, "backslashreplace"));
}

void translate(const std::exception_ptr& p, void*) {
  if (!p) stop_for_good();  // no exception of C++: Python ends this thread
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    const nb::object exception = exception_of(e);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

}  // namespace

nb::object exception_of(const Error& e) try {
  if (nb::object kept = kept_exception(e)) return kept;
  if (!make_exception) return nb::handle(PyExc_RuntimeError)(text_of(e.what()));
  return nb::borrow(make_exception)(
      static_cast<int>(e.code()), text_of(e.message()), text_of(e.node()), text_of(e.op()),
      text_of(e.device()), text_of(e.source()));
} catch (const nb::python_error& raised) {  // by a signal's handler, meanwhile
  return nb::borrow(raised.value());
}

// TensorFlow says ValueError where the engine refuses a node.
void set_building_error(const Error& e) {
  if (e.code() == Code::kInvalidArgument || e.code() == Code::kAlreadyExists) {
    PyErr_SetObject(PyExc_ValueError, text_of(e.message()).ptr());
  } else if (e.code() == Code::kFailedPrecondition &&
             e.message().find("finalized") != std::string::npos) {
    PyErr_SetObject(PyExc_RuntimeError, text_of(e.message()).ptr());
  } else if (e.code() == Code::kUnimplemented) {
    PyErr_SetObject(PyExc_NotImplementedError, text_of(e.message()).ptr());
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
