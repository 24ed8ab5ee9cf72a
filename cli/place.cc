#include <fmt/format.h>

#include <iostream>

#include "common.h"
#include "cost_graph_json.h"
#include "outlook.h"

namespace emplace::cli {
namespace {

struct PlaceArguments {
  std::string graph, config, dot, svg, require, placer, topology, costs, trace, timeline;
  std::vector<std::string> devices, tags, fetches;
  int64_t evaluations = -1;
  bool soft = false;
};

// Those that are here.
std::vector<DeviceAttributes> present(const PlaceArguments& a) {
  Graph graph;
  SessionOptions options = options_from(a.config);
  options.log_device_placement = false;
  return Session(graph, options).list_devices();
}

std::vector<std::string> devices_of(const PlaceArguments& a) {
  if (!a.devices.empty()) return a.devices;
  std::vector<std::string> names;
  for (const DeviceAttributes& d : present(a)) names.push_back(d.name);
  return names;
}

// A placement to show, and what is known beside it.
struct Answer {
  PlacementReport report;
  std::vector<Error> unmet;
  std::vector<Outlook> outlooks;
  std::vector<DeviceForecast> peaks;
  RunMetadata timeline;
  std::string problem;
};

Answer answer_by_rules(const PlaceArguments& a, Graph& graph, bool soft) {
  if (!a.topology.empty() || !a.trace.empty() || !a.timeline.empty() || !a.costs.empty() || !a.fetches.empty() || a.evaluations >= 0)
    throw Usage("--devices, --costs, --trace, --timeline, --fetch and --evaluations are about steps: give --placer");
  WhatIf result = place_on(graph, devices_of(a), soft);
  Answer out;
  out.report = std::move(result.report);
  out.unmet = std::move(result.unmet);
  return out;
}

Topology topology_of(const PlaceArguments& a) {
  if (!a.topology.empty()) return topology_from_json(read_text(a.topology));
  Topology out;
  for (const std::string& name : a.devices) out.devices.emplace_back().device.name = name;
  if (!a.devices.empty()) return out;
  for (const DeviceAttributes& d : present(a)) {
    CostDevice& device = out.devices.emplace_back().device;
    device.name = d.name;
    if (d.type != "CPU") device.memory = double(d.memory_limit);
  }
  return out;
}

std::vector<Output> fetches_of(const PlaceArguments& a, const Graph& graph) {
  std::vector<Output> out;
  for (const std::string& name : a.fetches)
    out.push_back(graph.tensor(name.find(':') == name.npos ? name + ":0" : name));
  return out;
}

// What a step would take, under every way of placing it.
Answer answer_by_figures(const PlaceArguments& a, Graph& graph, bool soft) {
  if (!a.topology.empty() && !a.devices.empty())
    throw Usage("--devices and --device both say where to place");
  const std::vector<Output> fetches = fetches_of(a, graph);
  OutlookOptions options;
  options.fetches = fetches;
  options.soft = soft;
  if (!a.costs.empty()) options.costs = CostBook::load(a.costs);
  if (a.evaluations >= 0) options.search.evaluations = a.evaluations;
  Answer out;
  out.outlooks = outlooks(graph, topology_of(a), options);
  const Outlook& chosen = outlook_of(out.outlooks, a.placer);
  out.report = chosen.report;
  out.peaks = peaks_of(chosen);
  out.timeline = chosen.timeline;
  out.problem = chosen.problem;
  return out;
}

void print_rows(const PlacementReport& report) {
  std::vector<std::vector<std::string>> rows{{"node", "op", "device", "reason"}};
  for (const PlacementRow& r : report.rows) {
    std::string reason = r.reason;
    for (const auto& x : r.rejected) reason += fmt::format("; not {}: {}", x.device, x.why);
    rows.push_back({r.node, r.op, r.device, reason});
  }
  print_table(rows);
}

void print_json(const Answer& answer, std::span<const Violation> broken,
                const std::vector<Contract>* contracts) {
  Json out{{"nodes", rows_json(answer.report)}};
  if (!answer.outlooks.empty()) out["outlooks"] = Json::array();
  for (const Outlook& o : answer.outlooks) out["outlooks"].push_back(outlook_json(o));
  if (!answer.unmet.empty()) out["unmet"] = Json::array();
  for (const Error& e : answer.unmet) out["unmet"].push_back(error_json(e));
  if (contracts) out["violations"] = Json::array();
  for (const Violation& v : broken) out["violations"].push_back(violation_json(v, *contracts));
  print(out);
}

void write_pictures(const PlaceArguments& a, const Graph& graph, const Answer& answer) {
  if (!a.dot.empty()) write_text(a.dot, placement_dot(graph, answer.report));
  if (!a.svg.empty()) write_text(a.svg, placement_svg(graph, answer.report));
  if (!a.trace.empty()) write_text(a.trace, chrome_trace(answer.timeline));
  const Timeline timeline{"predicted", answer.timeline};
  if (!a.timeline.empty()) write_text(a.timeline, timeline_svg(std::span(&timeline, 1)));
}

void place(const PlaceArguments& a, Context& context) {
  std::vector<Contract> contracts;
  if (!a.require.empty()) contracts = read_contracts(read_text(a.require), a.require);
  const Model model = load_model(a.graph, a.tags);
  Graph& graph = *model.graph;
  const bool soft = a.soft || options_from(a.config).allow_soft_placement;
  const Answer answer =
      a.placer.empty() ? answer_by_rules(a, graph, soft) : answer_by_figures(a, graph, soft);
  const auto broken = violations(graph, answer.report, contracts, answer.peaks);
  const bool good = answer.unmet.empty() && broken.empty() && answer.problem.empty();
  if (context.json) {
    print_json(answer, broken, a.require.empty() ? nullptr : &contracts);
  } else if (a.dot.empty() && a.svg.empty() && a.trace.empty() && a.timeline.empty() && (good || !a.placer.empty())) {
    if (!a.placer.empty()) std::cout << outlook_table(answer.outlooks) << '\n';
    print_rows(answer.report);
  }
  write_pictures(a, graph, answer);
  for (const Error& e : answer.unmet) std::cerr << "emplace: " << error_text(e) << '\n';
  if (!answer.problem.empty()) std::cerr << "emplace: " << answer.problem << '\n';
  std::cerr << violations_text(broken, contracts);
  context.status = good ? kOk : kFailed;
}

}  // namespace

void add_place(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "place",
                             "Where each node would go, why there, and what was rejected");
  auto a = std::make_shared<PlaceArguments>();
  sub->add_option("graph", a->graph, "GraphDef (.pb, .pbtxt), MetaGraphDef (.meta) or SavedModel")
      ->required()
      ->type_name("GRAPH");
  sub->add_option("-d,--device", a->devices,
                  "A device to place on; may be repeated. None needs to be present, and other jobs "
                  "may be named: GPU:0, /job:worker/task:1/cpu:0. Without: the devices that are here")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub->add_option("--placer", a->placer,
                  "Whose answer to show, with what a step would take under every way of placing it")
      ->check(CLI::IsMember({"simple", "dynamic"}));
  sub->add_option("--devices", a->topology,
                  "Devices and links in JSON, as in a case of `emplace plan`; none needs to be present")
      ->type_name("FILE.json");
  sub->add_option("--costs", a->costs,
                  "Measured costs and rates (docs/costs.md); a device of --devices names its \"kind\"")
      ->type_name("costs.json");
  sub->add_option("--fetch", a->fetches,
                  "What the step computes; may be repeated. Without: the most that one node needs")
      ->type_name("TENSOR")
      ->allow_extra_args(false);
  sub->add_option("--evaluations", a->evaluations,
                  "Plans to look at: the same answer on every machine")
      ->check(CLI::PositiveNumber);
  sub->add_option("--trace", a->trace, "Write the predicted step for chrome://tracing and Perfetto")
      ->type_name("FILE.json");
  sub->add_option("--timeline", a->timeline, "Draw the predicted step as SVG")->type_name("FILE.svg");
  sub->add_flag("--soft", a->soft, "Where a pin can't be met, take the next best device");
  sub->add_option("--config", a->config, "ConfigProto in text form")->type_name("FILE.pbtxt");
  sub->add_option("--tag", a->tags, "Tag of the graph in a SavedModel; may be repeated")
      ->type_name("TAG")
      ->allow_extra_args(false);
  sub->add_option("--require", a->require,
                  "What the placement must be, a demand a line: /gpu:* ops=tower_*/** max_copies=2 "
                  "max_copied_bytes=64MiB")
      ->type_name("FILE");
  sub->add_option("--dot", a->dot, "Write the picture for Graphviz")->type_name("FILE");
  sub->add_option("--svg", a->svg, "Write the picture as SVG")->type_name("FILE");
  sub->footer(
      "Example: emplace place model.pb -d CPU:0 -d GPU:0 -d GPU:1 --json\n"
      "Pins that can't be met are all listed on stderr (with --json also under \"unmet\"), and the\n"
      "exit status is 1; so are all nodes that are not where --require demands them.");
  sub->callback([a, &context] { place(*a, context); });
}

}  // namespace emplace::cli
