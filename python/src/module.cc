#include "module.h"

#include "front.h"
#include "numpy_tensor.h"

NB_MODULE(_core, m) {
  emplace::python::import_numpy();
  emplace::python::bind_errors(m);
  emplace::python::bind_graph(m);
  emplace::python::bind_front(m);
  emplace::python::bind_user_line(m);
  emplace::python::bind_build(m);
  emplace::python::bind_session(m);
  emplace::python::bind_placement(m);
  emplace::python::bind_eager(m);
  emplace::python::bind_cluster(m);
  emplace::python::bind_files(m);
  emplace::python::bind_costs(m);
  emplace::python::bind_host_functions(m);
}
