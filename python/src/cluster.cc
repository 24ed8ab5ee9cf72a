#include "emplace/cluster.h"
#include "emplace/eager.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "eager_call.h"
#include "eager_operators.h"
#include "eager_tensor.h"
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

void make_dispatcher(DataDispatcher* d, int port, std::vector<std::string> workers, int64_t check_interval_ms,
                     int64_t job_timeout_ms, int64_t worker_timeout_ms) {
  const Away away;
  new (d) DataDispatcher({port, std::move(workers), check_interval_ms, job_timeout_ms, worker_timeout_ms});
}

void make_worker(DataWorker* w, std::string dispatcher, std::string address, int port, int64_t timeout_ms) {
  const Away away;
  new (w) DataWorker({std::move(dispatcher), std::move(address), port, timeout_ms});
}

template <class Server>
bool joined(Server& s, int64_t ms) {
  const Away away;
  return s.join_for(ms);
}

template <class Server>
void stopped(Server& s) {
  const Away away;
  s.stop();
}

Eager& started() {
  if (!engine()) throw internal_error("the engine has not started");
  return *engine();
}

nb::object found_task(int port) {
  const auto found = find_task(port);
  if (!found) return nb::none();
  return nb::make_tuple(found->by, nb::cast(found->cluster), found->job, found->task, found->str());
}

nb::dict status_dict(const TaskStatus& s) {
  nb::dict d;
  d["task"] = s.task;
  d["problem"] = s.problem;
  d["incarnation"] = s.incarnation;
  d["sessions"] = s.sessions;
  d["steps"] = s.steps;
  d["steps_per_second"] = s.steps_per_second;
  d["memory_bytes"] = s.memory_bytes;
  d["uptime_seconds"] = s.uptime_seconds;
  d["last_error"] = s.last_error;
  return d;
}

nb::list status_list(const std::string& target) {
  std::vector<TaskStatus> all;
  {
    const Away away;
    all = cluster_status(target);
  }
  nb::list list;
  for (const TaskStatus& s : all) list.append(status_dict(s));
  return list;
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
      .def("lend_collectives", [](Server& s) { started().set_collectives(s.collectives()); })
      .def("stop", [](Server& s) {
        const Away away;
        s.stop();
      });
  nb::class_<DataDispatcher>(m, "DataDispatcher")
      .def("__init__", &make_dispatcher)
      .def_prop_ro("port", &DataDispatcher::port)
      .def("num_workers", &DataDispatcher::num_workers)
      .def("join_for", &joined<DataDispatcher>)
      .def("stop", &stopped<DataDispatcher>);
  nb::class_<DataWorker>(m, "DataWorker")
      .def("__init__", &make_worker)
      .def_prop_ro("port", &DataWorker::port)
      .def("num_tasks", &DataWorker::num_tasks)
      .def("join_for", &joined<DataWorker>)
      .def("stop", &stopped<DataWorker>);
  m.def("registered_element_spec", [](const std::string& dispatcher, const std::string& dataset) {
    std::string spec;
    {
      const Away away;
      spec = registered_element_spec(dispatcher, dataset);
    }
    return nb::bytes(spec.data(), spec.size());
  });
  m.def("find_task", &found_task);
  m.def("connect_tasks", [](const ClusterSpec& cluster, const std::string& own_job, int own_task) {
    Eager& eager = started();
    {
      const Away away;
      connect_tasks(eager, cluster, own_job, own_task);
    }
    forget_operators();
    forget_calls();
  });
  m.def("cluster_status", &status_list);
  m.def("slurm_cluster", [](const std::string& hosts, const std::string& counts) {
    return nb::make_tuple(slurm_host_names(hosts), slurm_task_counts(counts));
  });
  m.def("make_cluster_keys", [](const std::string& folder, const std::map<std::string, int>& jobs,
                                const std::vector<std::string>& clients, int days) {
    return make_cluster_keys({folder, jobs, clients, days});
  });
  m.def("make_client_token", &make_client_token);
  m.def("use_cluster_keys", &use_cluster_keys);
  m.def("waiting", [](Session& session) {
    std::vector<WaitingNode> found;
    {
      const Away away;
      found = waiting(session);
    }
    nb::list rows;
    for (const WaitingNode& w : found)
      rows.append(nb::make_tuple(w.node, w.op, w.device, w.source, w.awaits, w.from, w.seconds));
    return rows;
  });
  m.def("reset_target", [](const std::string& target, const std::vector<std::string>& containers,
                           nb::dict options) {
    const SessionOptions o = to_options(options);
    const Away away;
    reset_target(target, containers, o);
  });
}

}  // namespace emplace::python
