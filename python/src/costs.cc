#include "emplace/plan.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "gil.h"
#include "module.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

nb::list rows(const CostBook& book) {
  nb::list out;
  for (const CostRow& r : book.rows())
    out.append(nb::make_tuple(r.node, r.call.op, r.call.attrs, r.call.inputs, r.outputs, r.device,
                              r.cost.seconds, r.cost.spread, r.cost.count));
  return out;
}

template <class F>
auto away(F f) {
  const Away away;
  return f();
}

}  // namespace

void bind_costs(nb::module_& m) {
  nb::class_<CostBook>(m, "CostBook")
      .def(nb::init<>())
      .def_static("load", [](const std::string& path) { return away([&] { return CostBook::load(path); }); })
      .def_static("parse", [](const std::string& json) { return CostBook::parse(json); })
      .def("save", [](const CostBook& b, const std::string& path) { away([&] { b.save(path); }); })
      .def("json", &CostBook::json)
      .def("merge", &CostBook::merge)
      .def("rows", &rows)
      .def("__len__", &CostBook::size);
}

}  // namespace emplace::python
