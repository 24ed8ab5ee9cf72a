// Contracts, forecasts and outlooks: what users demand of placements and ask about them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "emplace/contract.h"
#include "emplace/what_if.h"
#include "front.h"
#include "gil.h"
#include "module.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

using Size = std::optional<std::string>;

Contract contract(const std::string& device, const std::string& ops, std::optional<int64_t> copies,
                  const Size& copied, const Size& peak, const std::string& source) {
  Contract c{device, ops, copies, {}, {}, source};
  if (copied) c.max_copied_bytes = byte_size(*copied);
  if (peak) c.max_peak = byte_size(*peak);
  violations(Graph(), {}, std::span(&c, 1));  // what is wrong with it is said now
  return c;
}

nb::tuple forecast_row(const DeviceForecast& d) {
  nb::list holders;
  for (const auto& h : d.holders) holders.append(nb::make_tuple(h.node, h.bytes));
  return nb::make_tuple(d.device, d.peak, d.kept, d.least, d.limit, holders);
}

nb::tuple forecast_of(Session& s, const std::vector<Output>& fetches) {
  const Forecast f = [&] {
    const Away away;
    return forecast(s, fetches);
  }();
  nb::list devices;
  for (const DeviceForecast& d : f.devices) devices.append(forecast_row(d));
  return nb::make_tuple(f.step_s, devices, f.guessed);
}

nb::list violations_of(Session& s, const std::vector<Output>& fetches,
                       const std::vector<Contract>& contracts) {
  const std::vector<Violation> found = [&] {
    const Away away;
    return violations(s.graph(), s.placement(fetches), contracts, forecast(s, fetches).devices);
  }();
  nb::list out;
  for (const Violation& v : found)
    out.append(nb::make_tuple(v.node, v.op, v.device, v.reason, v.source,
                              contracts[v.contract].source));
  return out;
}

// (name, memory, slots or 0, launch_s, pool, pool_cores, kind) and (src, dst or -1 for all, latency_s,
// rate).
using Device =
    std::tuple<std::string, std::optional<double>, int, double, std::string, double, std::string>;
using Link = std::tuple<int, int, double, double>;

Topology topology(const std::vector<Device>& devices, const std::vector<Link>& links) {
  Topology t;
  for (const auto& [name, memory, slots, launch, pool, cores, kind] : devices)
    t.devices.push_back({{name, "", memory, slots ? std::optional(slots) : std::nullopt, launch, pool,
                          cores}, kind});
  for (const auto& [src, dst, latency, rate] : links)
    if (src < 0) t.default_link = CostLink{latency, rate};
    else t.links.push_back({src, dst, {latency, rate}});
  return t;
}

nb::list rows_of(const PlacementReport& report) {
  nb::list rows;
  for (const PlacementRow& r : report.rows) {
    nb::list rejected;
    for (const auto& x : r.rejected) rejected.append(nb::make_tuple(x.device, x.why));
    rows.append(nb::make_tuple(r.node, r.op, r.device, r.reason, rejected));
  }
  return rows;
}

std::string svg_of(const Outlook& o) {
  const Timeline step{o.way, o.timeline};
  return timeline_svg(std::span(&step, 1));
}

nb::tuple outlooks_of(Graph& graph, const std::vector<Device>& devices, const std::vector<Link>& links,
                      const std::vector<Output>& fetches, const CostBook* costs, bool soft,
                      int64_t evaluations) {
  OutlookOptions options;
  options.fetches = fetches;
  if (costs) options.costs = *costs;
  options.soft = soft;
  if (evaluations > 0) options.search.evaluations = evaluations;
  const std::vector<Outlook> all = [&] {
    const Away away;
    return outlooks(graph, topology(devices, links), options);
  }();
  nb::list out;
  for (const Outlook& o : all) {
    nb::list used;
    for (const auto& d : o.devices) used.append(nb::make_tuple(d.busy_s, forecast_row(d.memory)));
    out.append(nb::make_tuple(o.way, o.problem, o.step_s, used, rows_of(o.report),
                              chrome_trace(o.timeline), svg_of(o)));
  }
  return nb::make_tuple(out, outlook_table(all));
}

}  // namespace

void bind_placement(nb::module_& m) {
  nb::class_<Contract>(m, "Contract")
      .def("__init__", [](Contract* c, const std::string& device, const std::string& ops,
                          std::optional<int64_t> copies, const Size& copied, const Size& peak) {
        new (c) Contract(contract(device, ops, copies, copied, peak, user_line()));
      }, nb::arg("device"), nb::arg("ops"), nb::arg("copies").none(), nb::arg("copied").none(),
           nb::arg("peak").none());
  m.def("byte_size", [](const std::string& text) { return byte_size(text); });
  m.def("require", [](Session& s, const Contract& c) { require(s, c); });
  m.def("violations", &violations_of);
  m.def("forecast", &forecast_of);
  m.def("outlooks", &outlooks_of, nb::arg("graph"), nb::arg("devices"), nb::arg("links"),
        nb::arg("fetches"), nb::arg("costs").none(), nb::arg("soft"), nb::arg("evaluations"));
}

}  // namespace emplace::python
