#pragma once
#include <nanobind/nanobind.h>

namespace emplace::python {

void bind_graph(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_placement(nanobind::module_& m);
void bind_errors(nanobind::module_& m);
void bind_eager(nanobind::module_& m);
void bind_cluster(nanobind::module_& m);
void bind_files(nanobind::module_& m);
void bind_costs(nanobind::module_& m);
void bind_host_functions(nanobind::module_& m);

}  // namespace emplace::python
