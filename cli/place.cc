#include <fmt/format.h>

#include <iostream>

#include "common.h"

namespace emplace::cli {
namespace {

struct PlaceArguments {
  std::string graph, config, dot, svg, require;
  std::vector<std::string> devices, tags;
  bool soft = false;
};

// Those named, or those that are here.
std::vector<std::string> devices_of(const PlaceArguments& a) {
  if (!a.devices.empty()) return a.devices;
  Graph graph;
  SessionOptions options = options_from(a.config);
  options.log_device_placement = false;
  std::vector<std::string> names;
  for (const DeviceAttributes& d : Session(graph, options).list_devices()) names.push_back(d.name);
  return names;
}

Json report_json(const WhatIf& result) {
  Json nodes = Json::array();
  for (const PlacementRow& r : result.report.rows) {
    Json rejected = Json::array();
    for (const auto& x : r.rejected) rejected.push_back({{"device", x.device}, {"why", x.why}});
    nodes.push_back({{"name", r.node}, {"op", r.op}, {"device", r.device}, {"reason", r.reason},
                     {"rejected", rejected}});
  }
  Json out{{"nodes", nodes}};
  if (!result.unmet.empty()) {
    out["unmet"] = Json::array();
    for (const Error& e : result.unmet) out["unmet"].push_back(error_json(e));
  }
  return out;
}

void print_text(const PlacementReport& report) {
  std::vector<std::vector<std::string>> rows{{"node", "op", "device", "reason"}};
  for (const PlacementRow& r : report.rows) {
    std::string reason = r.reason;
    for (const auto& x : r.rejected) reason += fmt::format("; not {}: {}", x.device, x.why);
    rows.push_back({r.node, r.op, r.device, reason});
  }
  print_table(rows);
}

Json violation_json(const Violation& v, const std::vector<Contract>& contracts) {
  return {{"demanded_at", contracts[v.contract].source}, {"node", v.node}, {"op", v.op},
          {"device", v.device}, {"reason", v.reason}, {"source", v.source}};
}

void place(const PlaceArguments& a, Context& context) {
  std::vector<Contract> contracts;
  if (!a.require.empty()) contracts = read_contracts(read_text(a.require), a.require);
  const Model model = load_model(a.graph, a.tags);
  const bool soft = a.soft || options_from(a.config).allow_soft_placement;
  const WhatIf result = place_on(*model.graph, devices_of(a), soft);
  const auto broken = violations(*model.graph, result.report, contracts);
  if (context.json) {
    Json out = report_json(result);
    if (!a.require.empty()) out["violations"] = Json::array();
    for (const Violation& v : broken) out["violations"].push_back(violation_json(v, contracts));
    print(out);
  } else if (a.dot.empty() && a.svg.empty() && result.unmet.empty() && broken.empty()) {
    print_text(result.report);
  }
  if (!a.dot.empty()) write_text(a.dot, placement_dot(*model.graph, result.report));
  if (!a.svg.empty()) write_text(a.svg, placement_svg(*model.graph, result.report));
  for (const Error& e : result.unmet) std::cerr << "emplace: " << error_text(e) << '\n';
  std::cerr << violations_text(broken, contracts);
  context.status = result.unmet.empty() && broken.empty() ? kOk : kFailed;
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
