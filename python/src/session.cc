#include "emplace/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "run_callable.h"
#include "front.h"
#include "gil.h"
#include "interrupts.h"
#include "module.h"
#include "numpy_tensor.h"
#include "options.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

template <class T>
void take(nb::dict d, const char* key, T& field) {
  if (d.contains(key)) field = nb::cast<T>(d[key]);
}

nb::list fetched_list(std::vector<Tensor>&& fetched) {
  nb::list out;
  for (Tensor& t : fetched) out.append(to_array(std::move(t), true));
  return out;
}

RunOptions to_run_options(int64_t timeout_ms, int pool, bool trace) {
  RunOptions o;
  o.timeout_in_ms = timeout_ms;
  o.inter_op_thread_pool = pool;
  o.trace = trace;
  return o;
}

nb::list stats(const RunMetadata& m) {
  nb::list rows;
  for (const NodeStats& n : m.nodes)
    rows.append(nb::make_tuple(n.node, n.op, n.device, n.start_ns, n.end_ns, n.bytes, n.thread));
  return rows;
}

std::vector<Tensor> feed_values(nb::list feeds) {
  std::vector<Tensor> values;
  values.reserve(feeds.size());
  for (nb::handle f : feeds) values.push_back(from_array(f.ptr()));
  return values;
}

nb::list call(const Callable& c, nb::list feeds) {
  const std::vector<Tensor> values = feed_values(feeds);
  std::vector<Tensor> fetched;
  run_callable(c, values, fetched, {}, nullptr);
  return fetched_list(std::move(fetched));
}

nb::tuple call_with_options(const Callable& c, nb::list feeds, int64_t timeout_ms, int pool,
                            bool trace) {
  const std::vector<Tensor> values = feed_values(feeds);
  std::vector<Tensor> fetched;
  RunMetadata metadata;
  run_callable(c, values, fetched, to_run_options(timeout_ms, pool, trace), &metadata);
  return nb::make_tuple(fetched_list(std::move(fetched)), metadata.start_us, stats(metadata));
}

nb::list placement_rows(Session& s, const std::vector<Output>& fetches) {
  nb::list rows;
  for (const PlacementRow& r : s.placement(fetches).rows) {
    nb::list rejected;
    for (const auto& x : r.rejected) rejected.append(nb::make_tuple(x.device, x.why));
    rows.append(nb::make_tuple(r.node, r.op, r.device, r.reason, rejected));
  }
  return rows;
}

}  // namespace

void run_callable(const Callable& c, std::span<const Tensor> values,
               std::vector<Tensor>& fetched, const RunOptions& options, RunMetadata* metadata) {
  const Away away;
  c.run(values, fetched, options, metadata);
}

SessionOptions to_options(nb::dict d) {
  SessionOptions o;
  take(d, "device_count", o.device_count);
  take(d, "intra_op_parallelism_threads", o.intra_op_parallelism_threads);
  take(d, "inter_op_parallelism_threads", o.inter_op_parallelism_threads);
  take(d, "use_per_session_threads", o.use_per_session_threads);
  take(d, "allow_soft_placement", o.allow_soft_placement);
  take(d, "log_device_placement", o.log_device_placement);
  take(d, "place_pruned_graph", o.place_pruned_graph);
  take(d, "operation_timeout_in_ms", o.operation_timeout_in_ms);
  take(d, "per_process_gpu_memory_fraction", o.gpu_options.per_process_gpu_memory_fraction);
  take(d, "allow_growth", o.gpu_options.allow_growth);
  take(d, "visible_device_list", o.gpu_options.visible_device_list);
  take(d, "virtual_devices", o.gpu_options.virtual_devices);
  take(d, "target", o.target);
  take(d, "device_filters", o.device_filters);
  take(d, "isolate_session_state", o.isolate_session_state);
  take(d, "use_cuda_malloc_async", o.gpu_options.use_cuda_malloc_async);
  take(d, "force_gpu_compatible", o.gpu_options.force_gpu_compatible);
  take(d, "placer", o.placer);
  take(d, "placer_budget_ms", o.placer_budget_ms);
  take(d, "placer_evaluations", o.placer_evaluations);
  take(d, "placer_seed", o.placer_seed);
  take(d, "measure_costs", o.measure_costs);
  take(d, "costs", o.costs);
  take(d, "save_costs", o.save_costs);
  take(d, "replan_after_steps", o.replan_after_steps);
  take(d, "virtual_gpus", o.virtual_gpus);
  take(d, "virtual_gpu_memory", o.virtual_gpu_memory);
  if (d.contains("session_inter_op_thread_pool"))
    for (nb::handle p : nb::cast<nb::list>(d["session_inter_op_thread_pool"]))
      o.session_inter_op_thread_pool.push_back(
          {nb::cast<int>(p[0]), nb::cast<std::string>(p[1])});
  // Through Python's stdout, so that it can be captured and stays in order with print().
  o.log = [](const std::string& text) {
    const Back back;
    outlive_python([&] {
      nb::object out = nb::module_::import_("sys").attr("stdout");
      out.attr("write")(text);
      out.attr("flush")();
    });
  };
  return o;
}

void bind_session(nb::module_& m) {
  remember_main_thread();
  bind_runner(m);
  bind_ending(m);
  m.def("forget_threads", [] {
    forget_watcher();
    forget_other_threads();
  });
  nb::class_<Callable>(m, "Callable")
      .def("__call__", &call)
      .def("call_with_options", &call_with_options);
  nb::class_<Session>(m, "Session")
      .def("__init__", [](Session* s, std::shared_ptr<Graph> g, nb::dict options) {
        new (s) Session(std::move(g), to_options(options));
      })
      .def("make_callable", [](Session& s, const std::vector<Output>& feeds,
                               const std::vector<Output>& fetches,
                               const std::vector<Node*>& targets) {
        return s.make_callable(feeds, fetches, targets);
      }, nb::keep_alive<0, 1>())
      .def("placement", &placement_rows)
      .def("list_devices", [](Session& s) {
        nb::list rows;
        for (const DeviceAttributes& d : s.list_devices())
          rows.append(nb::make_tuple(d.name, d.type, d.memory_limit, d.incarnation, d.description));
        return rows;
      })
      .def("costs", [](Session& s) { return s.costs(); })
      .def("limit", &Session::limit)
      .def("trim", [](Session& s) {
        const Away away;
        return s.trim();
      })
      .def("cancel", [](Session& s) {
        const Away away;
        s.cancel();
      })
      .def("close", [](Session& s) {
        const Away away;
        s.close();
      })
      .def_prop_ro("closed", &Session::closed);
}

}  // namespace emplace::python
