#include "emplace/cluster.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "gil.h"
#include "module.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

void make_server(Server* s, ClusterSpec cluster, std::string job, int task, std::string protocol,
                 int port, nb::dict options) {
  ServerOptions o;
  o.cluster = std::move(cluster);
  o.job = std::move(job);
  o.task = task;
  o.protocol = std::move(protocol);
  o.port = port;
  o.session = to_options(options);
  const Away away;
  new (s) Server(std::move(o));
}

}  // namespace

void bind_cluster(nb::module_& m) {
  nb::class_<Server>(m, "Server")
      .def("__init__", &make_server)
      .def_prop_ro("target", &Server::target)
      .def("join_for", [](Server& s, int64_t ms) {
        const Away away;
        return s.join_for(ms);
      })
      .def("stop", [](Server& s) {
        const Away away;
        s.stop();
      });
  m.def("reset_target", [](const std::string& target, const std::vector<std::string>& containers,
                           nb::dict options) {
    const SessionOptions o = to_options(options);
    const Away away;
    reset_target(target, containers, o);
  });
}

}  // namespace emplace::python
