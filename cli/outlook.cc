// What ways of placing would give, as JSON.
#include "outlook.h"

namespace emplace::cli {
namespace {

Json memory_json(const DeviceForecast& m) {
  Json holders = Json::array();
  for (const auto& h : m.holders) holders.push_back({{"node", h.node}, {"bytes", h.bytes}});
  Json out{{"peak_bytes", m.peak}, {"kept_bytes", m.kept}, {"limit_bytes", nullptr},
           {"holders", holders}};
  if (m.limit) out["limit_bytes"] = *m.limit;
  return out;
}

}  // namespace

Json rows_json(const PlacementReport& report) {
  Json nodes = Json::array();
  for (const PlacementRow& r : report.rows) {
    Json rejected = Json::array();
    for (const auto& x : r.rejected) rejected.push_back({{"device", x.device}, {"why", x.why}});
    nodes.push_back({{"name", r.node}, {"op", r.op}, {"device", r.device}, {"reason", r.reason},
                     {"rejected", rejected}});
  }
  return nodes;
}

Json outlook_json(const Outlook& o) {
  Json devices = Json::array();
  for (const auto& d : o.devices) {
    Json row{{"name", d.memory.device}, {"busy_s", d.busy_s}};
    row.update(memory_json(d.memory));
    devices.push_back(row);
  }
  Json out{{"way", o.way}, {"possible", o.problem.empty()}, {"step_s", nullptr}, {"devices", devices}};
  if (!o.devices.empty()) out["step_s"] = o.step_s;
  if (!o.problem.empty()) out["problem"] = o.problem;
  return out;
}

Json violation_json(const Violation& v, const std::vector<Contract>& contracts) {
  return {{"demanded_at", contracts[v.contract].source}, {"node", v.node}, {"op", v.op},
          {"device", v.device}, {"reason", v.reason}, {"source", v.source}};
}

const Outlook& outlook_of(const std::vector<Outlook>& all, const std::string& placer) {
  const auto named = [&](const std::string& way) -> const Outlook* {
    for (const Outlook& o : all)
      if (o.way == way) return &o;
    return nullptr;
  };
  if (placer == "dynamic") return *named("dynamic placer");
  if (const Outlook* pins = named("your pins")) return *pins;
  return *named("simple placer");
}

std::vector<DeviceForecast> peaks_of(const Outlook& outlook) {
  std::vector<DeviceForecast> out;
  for (const auto& d : outlook.devices) out.push_back(d.memory);
  return out;
}

}  // namespace emplace::cli
