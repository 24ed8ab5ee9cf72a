#include "emplace/eager.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "eager_call.h"
#include "eager_operators.h"
#include "eager_program.h"
#include "eager_tensor.h"
#include "front.h"
#include "gil.h"
#include "list_tensor.h"
#include "module.h"
#include "numpy_tensor.h"
#include "options.h"
#include "thread_state.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

// The engine as Python holds it: at its end nothing points at it any more.
struct OwnedEager final : Eager {
  using Eager::Eager;
  ~OwnedEager() {
    if (engine() == this) set_engine(nullptr);
  }
};

const Tensor& tensor_of(nb::handle t) {
  if (is_eager(t.ptr())) return value_of(t.ptr());
  PyErr_Format(PyExc_TypeError, "an eager tensor is wanted, not %R", t.ptr());
  throw nb::python_error();
}

nb::object object_of(Tensor t, const std::string* other_cpu = nullptr) {
  PyObject* o = wrap(std::move(t), other_cpu);
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

nb::object copy_to(OwnedEager& e, nb::handle t, const std::string& device) {
  Tensor copied = tensor_of(t);
  std::string name;
  {
    const Away away;
    copied = e.copy_to(copied, device);
    if (!copied.device() && !device.empty()) name = e.resolve(device);
  }
  const bool other_cpu = !name.empty() && name != e.device_of(Tensor());
  return object_of(std::move(copied), other_cpu ? &name : nullptr);
}

nb::list profiled_calls() {
  nb::list rows;
  for (const ProfiledCall& c : stop_profile()) {
    nb::list nodes;
    for (const NodeStats& n : c.nodes)
      nodes.append(nb::make_tuple(n.node, n.op, n.device, c.start_ns + n.start_ns,
                                  c.start_ns + n.end_ns, n.thread));
    rows.append(nb::make_tuple(c.name, c.device, c.start_ns, c.end_ns, c.thread, nodes));
  }
  return rows;
}

nb::list list_devices(const OwnedEager& e) {
  nb::list rows;
  for (const DeviceAttributes& d : e.list_devices())
    rows.append(nb::make_tuple(d.name, d.type, d.memory_limit, d.incarnation, d.description));
  return rows;
}

PyObject* log_function = nullptr;  // (op, device); the GIL guards it

void set_log(OwnedEager& e, nb::object log) {
  log_function = log.is_none() ? nullptr : kept_by_module("_log", log);
  if (!log_function) return e.set_log({});
  e.set_log([](const std::string& op, const std::string& device) {
    const Back back;
    outlive_python([&] {
      if (log_function) nb::borrow(log_function)(op, device);
    });
  });
}

// A finite number that float32 doesn't hold.
bool beyond_float(PyObject* number) {
  if (!PyFloat_CheckExact(number)) return false;
  const double v = PyFloat_AS_DOUBLE(number);
  return std::isfinite(v) && std::isinf(static_cast<float>(v));
}

// A Python number as a tensor of the dtype with that number (0: int32 or float32 as it comes), or
// None where that needs a second look.
nb::object scalar(nb::handle number, int dtype) {
  if (dtype == 0 && beyond_float(number.ptr())) return nb::none();
  const DType own = PyFloat_CheckExact(number.ptr()) ? DType::kFloat : DType::kInt32;
  Tensor t = scalar_of(number.ptr(), dtype == 0 ? own : static_cast<DType>(dtype));
  return t.has_value() ? object_of(std::move(t)) : nb::none();
}

// The tensor of a list of numbers, truths or strings as the dtype with that number (0: as TensorFlow
// takes them), or None where that needs a second look.
nb::object of_list(nb::handle values, int dtype) {
  Tensor t = list_tensor(values.ptr(), static_cast<DType>(dtype));
  return t.has_value() ? object_of(std::move(t)) : nb::none();
}

// The same as an array.
nb::object array_of_list(nb::handle values, int dtype) {
  Tensor t = list_tensor(values.ptr(), static_cast<DType>(dtype));
  return t.has_value() ? to_array(std::move(t), false) : nb::none();
}

nb::object make_type(nb::object base, nb::object make_shape) {
  PyObject* type = make_eager_type(base.ptr(), make_shape.ptr());
  if (!type) throw nb::python_error();
  return nb::steal(type);
}

// The operations that f() runs share one deadline. What it raises because of that, becomes that.
nb::object run_as_one(OwnedEager& e, nb::callable f) {
  nb::object result;
  e.run_as_one([&] {
    try {
      result = f();
    } catch (nb::python_error& raised) {
      const auto why = Eager::why_ended();
      if (why && raised.matches(PyExc_Exception)) throw *why;
      throw;
    }
  });
  return result;
}

PyMethodDef kFunctions[] = {
    {"execute_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(execute_call)),
     METH_FASTCALL, "(op, tensors, attrs, device[, inputs, attrs as given]) -> list of tensors"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void bind_eager(nb::module_& m) {
  bind_eager_program(m);
  bind_function(m);
  m.attr("ThreadState") = nb::steal(make_thread_state_type());
  if (PyModule_AddFunctions(m.ptr(), kFunctions) < 0) throw nb::python_error();
  m.def("make_eager_type", &make_type);
  m.def("set_eager_operators", [](nb::dict functions) { set_long_way(functions.ptr()); });
  m.def("set_eager_packer", [](nb::object f) { set_packer(kept_by_module("_eager_packer", f)); });
  m.def("start_profile", &start_profile);
  m.def("stop_profile", &profiled_calls);
  m.def("check_placer", [](nb::dict options) { Eager::check_placer(to_options(options)); });
  m.def("set_engine", [](OwnedEager* e) { set_engine(e); }, nb::arg("engine").none());
  m.def("scalar", &scalar);
  m.def("of_list", &of_list);
  m.def("array_of_list", &array_of_list);
  m.def("tensor_of", [](nb::handle array) { return object_of(from_array(array.ptr()).copy()); });
  nb::class_<OwnedEager>(m, "Eager")
      .def(
          "__init__",
          [](OwnedEager* e, nb::dict options, const std::string& task) {
    new (e) OwnedEager(to_options(options), task);
          },
          nb::arg("options"), nb::arg("task") = "")
      .def("copy_to", &copy_to)
      .def("resolve", [](const OwnedEager& e, std::string_view name) { return e.resolve(name); })
      .def("set_placer", [](OwnedEager& e, nb::dict options) { e.set_placer(to_options(options)); })
      .def(
          "set_soft_placement",
          [](OwnedEager& e, bool on) {
    e.set_soft_placement(on);
    forget_operators();
          })
      .def("forget", [](OwnedEager& e, nb::handle t) { e.forget(tensor_of(t)); })
      .def("restart_random", [](OwnedEager& e) { e.restart_random(); })
      .def("list_devices", &list_devices)
      .def("limit_memory", [](OwnedEager& e, const std::string& device,
                              int64_t bytes) { e.limit_memory(device, bytes); })
      .def(
          "trim",
          [](OwnedEager& e) {
    const Away away;
    return e.trim();
          })
      .def_prop_rw("operation_timeout", &OwnedEager::operation_timeout,
                   &OwnedEager::set_operation_timeout)
      .def("run_as_one", &run_as_one)
      .def("set_log", &set_log, nb::arg("log").none());
}

}  // namespace emplace::python
