#include "emplace/eager.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "emplace/op.h"
#include "module.h"
#include "numpy_tensor.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

nb::list execute(Eager& e, const std::string& type, nb::list inputs, nb::dict attrs,
                 const std::string& device) {
  const OpDef* op = find_op(type);
  if (!op) throw not_found("Op type not registered '" + type + "'");
  std::vector<Tensor> values;
  values.reserve(inputs.size());
  for (nb::handle i : inputs) values.push_back(nb::cast<const Tensor&>(i));
  AttrList list = to_attrs(*op, attrs);
  std::vector<Tensor> outputs;
  {
    const nb::gil_scoped_release release;
    outputs = e.execute(type, values, std::move(list), device);
  }
  nb::list result;
  for (Tensor& t : outputs) result.append(nb::cast(std::move(t)));
  return result;
}

}  // namespace

void bind_eager(nb::module_& m) {
  nb::class_<Tensor>(m, "Value")
      .def_prop_ro("dtype", [](const Tensor& t) { return static_cast<int>(t.dtype()); })
      .def_prop_ro("shape", [](const Tensor& t) { return from_shape(t.shape()); })
      .def_prop_ro("size", &Tensor::num_elements);
  m.def("value_of", [](nb::handle array) { return from_array(array.ptr()).copy(); });
  nb::class_<Eager>(m, "Eager")
      .def("__init__", [](Eager* e, nb::dict options) { new (e) Eager(to_options(options)); })
      .def("execute", &execute)
      .def("copy_to", &Eager::copy_to, nb::call_guard<nb::gil_scoped_release>())
      .def("device_of", &Eager::device_of)
      .def("resolve", &Eager::resolve)
      .def("numpy", [](Eager& e, const Tensor& t) { return to_array(e.to_host(t).copy(), false); })
      .def("set_soft_placement", &Eager::set_soft_placement)
      .def("restart_random", &Eager::restart_random)
      .def("list_devices", [](const Eager& e) {
        nb::list rows;
        for (const DeviceAttributes& d : e.list_devices())
          rows.append(nb::make_tuple(d.name, d.type, d.memory_limit, d.incarnation, d.description));
        return rows;
      })
      .def("set_log", [](Eager& e, nb::object log) {
        if (log.is_none()) return e.set_log({});
        e.set_log([log](const std::string& op, const std::string& device) {
          const nb::gil_scoped_acquire gil;
          log(op, device);
        });
      }, nb::arg("log").none());
}

}  // namespace emplace::python
