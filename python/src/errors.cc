#include <nanobind/nanobind.h>

#include "emplace/error.h"
#include "module.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// (code, message, node, op, device, source) -> exception; set by the Python side.
PyObject* make_exception = nullptr;

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    if (!make_exception) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
      return;
    }
    nb::object exception = nb::borrow(make_exception)(
        static_cast<int>(e.code()), nb::str(e.message().c_str(), e.message().size()), nb::str(e.node().c_str()),
        nb::str(e.op().c_str()), nb::str(e.device().c_str()), nb::str(e.source().c_str()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  nb::register_exception_translator(&translate);
  m.def("set_exception_factory", [](nb::object factory) {
    Py_XSETREF(make_exception, factory.release().ptr());
  });
}

}  // namespace emplace::python
