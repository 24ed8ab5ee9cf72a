#include "cost_graph_json.h"

#include <emplace/error.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

namespace emplace::cli {
namespace {

using nlohmann::json;
using Names = std::unordered_map<std::string, int>;

const json& field(const json& object, const char* key, const std::string& of) {
  if (!object.is_object()) throw invalid_argument(fmt::format("{} is not an object", of));
  const auto found = object.find(key);
  if (found == object.end()) throw invalid_argument(fmt::format("{} has no \"{}\"", of, key));
  return *found;
}

// nullptr where it is missing or null.
const json* maybe(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

double number(const json& value, const std::string& what) {
  if (!value.is_number()) throw invalid_argument(what + " is not a number");
  return value.get<double>();
}

const std::string& text(const json& value, const std::string& what) {
  if (!value.is_string()) throw invalid_argument(what + " is not a string");
  return value.get_ref<const std::string&>();
}

const json& list(const json& value, const std::string& what) {
  if (!value.is_array()) throw invalid_argument(what + " is not a list");
  return value;
}

int index(const Names& names, const json& value, const char* kind, const char* where) {
  const auto found = names.find(text(value, fmt::format("The {} of {}", kind, where)));
  if (found != names.end()) return found->second;
  throw invalid_argument(
      fmt::format("{} names {} '{}', which is not there", where, kind, value.get<std::string>()));
}

CostLink read_link(const json& link) {
  CostLink out;
  out.latency_s = number(field(link, "latency_s", "A link"), "latency_s of a link");
  out.bytes_per_s = number(field(link, "bytes_per_s", "A link"), "bytes_per_s of a link");
  if (const json* c = maybe(link, "channel"))
    out.channel = c->is_string() ? c->get<std::string>() : c->dump();
  return out;
}

CostDevice read_device(const json& device, bool typed) {
  CostDevice out;
  out.name = text(field(device, "name", "A device"), "The name of a device");
  if (typed || maybe(device, "type"))
    out.type = text(field(device, "type", "Device " + out.name), "The type of " + out.name);
  if (const json* m = maybe(device, "memory")) out.memory = number(*m, "The memory of " + out.name);
  if (const auto slots = device.find("slots"); slots != device.end()) {
    out.slots.reset();
    if (!slots->is_null()) {
      if (!slots->is_number_integer())
        throw invalid_argument("The slots of " + out.name + " are not a whole number");
      out.slots = slots->get<int>();
    }
  }
  if (const json* l = maybe(device, "launch_s")) out.launch_s = number(*l, "launch_s of " + out.name);
  if (const json* p = maybe(device, "pool")) out.pool = text(*p, "The pool of " + out.name);
  if (const json* c = maybe(device, "pool_cores"))
    out.pool_cores = number(*c, "pool_cores of " + out.name);
  return out;
}

int group_of(const json& name, CostGraph& graph, Names& groups) {
  const std::string key = name.is_string() ? name.get<std::string>() : name.dump();
  const auto [at, fresh] = groups.emplace(key, int(graph.groups.size()));
  if (fresh) graph.groups.push_back(key);
  return at->second;
}

CostNode read_node(const json& node, CostGraph& graph, Names& groups) {
  CostNode out;
  out.name = text(field(node, "name", "A node"), "The name of a node");
  const json& time = field(node, "time", "Node '" + out.name + "'");
  if (!time.is_object())
    throw invalid_argument("The time of node '" + out.name + "' is not an object");
  for (const auto& [key, value] : time.items())
    if (!value.is_null())
      out.time.emplace_back(key, number(value, "A time of node '" + out.name + "'"));
  if (const json* m = maybe(node, "memory"))
    out.memory = number(*m, "The memory of node '" + out.name + "'");
  if (const json* pin = maybe(node, "pin")) out.pin = text(*pin, "The pin of '" + out.name + "'");
  if (const json* group = maybe(node, "colocate")) out.group = group_of(*group, graph, groups);
  return out;
}

void read_model(const json& root, CostGraph& graph) {
  const json* model = maybe(root, "model");
  if (!model) return;
  const std::string kind = text(field(*model, "kind", "The model"), "The kind of the model");
  if (kind == "maxload") graph.model = PlanModel::kMaxLoad;
  else if (kind == "calls") graph.model = PlanModel::kCalls;
  else if (kind != "list")
    throw invalid_argument("The model is '" + kind + "': list, maxload and calls are known");
  if (const json* c = maybe(*model, "contention")) {
    const std::string how = text(*c, "The model's contention");
    if (how != "none" && how != "serial")
      throw invalid_argument("The contention is '" + how + "': none and serial are known");
    graph.serial_links = how == "serial";
  }
  if (const json* t = maybe(*model, "through_host")) {
    if (!t->is_boolean()) throw invalid_argument("through_host is neither true nor false");
    graph.through_host = t->get<bool>();
  }
}

std::vector<CostLinkPair> read_pairs(const json& links, const Names& devices) {
  std::vector<CostLinkPair> out;
  if (const json* pairs = maybe(links, "pairs"))
    for (const json& pair : list(*pairs, "\"pairs\""))
      out.push_back({index(devices, field(pair, "src", "A link"), "device", "A link"),
                     index(devices, field(pair, "dst", "A link"), "device", "A link"),
                     read_link(pair)});
  return out;
}

CostEdge read_edge(const json& edge, const Names& nodes) {
  if (!edge.is_array() || edge.size() != 3)
    throw invalid_argument("An edge is not [src, dst, bytes]: " + edge.dump().substr(0, 80));
  return {index(nodes, edge[0], "node", "An edge"), index(nodes, edge[1], "node", "An edge"),
          number(edge[2], "The size of an edge")};
}

CostGraph read_case(const json& root) {
  CostGraph graph;
  graph.name = text(field(root, "name", "The case"), "The name of the case");
  read_model(root, graph);
  Names devices, nodes, groups;
  for (const json& d : list(field(root, "devices", "The case"), "\"devices\"")) {
    graph.devices.push_back(read_device(d, true));
    if (!devices.emplace(graph.devices.back().name, int(devices.size())).second)
      throw invalid_argument("Two devices are called " + graph.devices.back().name);
  }
  const json& links = field(root, "links", "The case");
  graph.default_link = read_link(field(links, "default", "\"links\""));
  graph.links = read_pairs(links, devices);
  for (const json& n : list(field(root, "nodes", "The case"), "\"nodes\"")) {
    graph.nodes.push_back(read_node(n, graph, groups));
    if (!nodes.emplace(graph.nodes.back().name, int(nodes.size())).second)
      throw invalid_argument("Two nodes are called '" + graph.nodes.back().name + "'");
  }
  for (const json& e : list(field(root, "edges", "The case"), "\"edges\""))
    graph.edges.push_back(read_edge(e, nodes));
  return graph;
}

Topology read_topology(const json& root) {
  Topology out;
  Names names;
  for (const json& d : list(field(root, "devices", "The topology"), "\"devices\"")) {
    out.devices.push_back({read_device(d, false)});
    if (const json* kind = maybe(d, "kind")) out.devices.back().kind = text(*kind, "A device's kind");
    const std::string& name = out.devices.back().device.name;
    if (!names.emplace(name, int(names.size())).second)
      throw invalid_argument("Two devices are called " + name);
  }
  const json* links = maybe(root, "links");
  if (!links) return out;
  if (const json* link = maybe(*links, "default")) out.default_link = read_link(*link);
  out.links = read_pairs(*links, names);
  return out;
}

std::string quoted(const std::string& s) {
  return json(s).dump(-1, ' ', false, json::error_handler_t::replace);
}

constexpr int kMostDepth = 100;  // ours nest five levels deep

json parsed(const std::string& text) {
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > kMostDepth)
      throw invalid_argument(fmt::format("JSON nests deeper than {}", kMostDepth));
    return true;
  });
}

}  // namespace

CostGraph cost_graph_from_json(const std::string& text) {
  try {
    return read_case(parsed(text));
  } catch (const json::exception& e) {
    throw invalid_argument(std::string("Not a case in JSON: ") + e.what());
  }
}

Topology topology_from_json(const std::string& text) {
  try {
    return read_topology(parsed(text));
  } catch (const json::exception& e) {
    throw invalid_argument(std::string("Not a topology in JSON: ") + e.what());
  }
}

std::string plan_to_json(const CostGraph& graph, const Plan& plan) {
  std::vector<std::string> nodes, devices;
  for (const CostNode& n : graph.nodes) nodes.push_back(quoted(n.name));
  for (const CostDevice& d : graph.devices) devices.push_back(quoted(d.name));
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{{\"name\": {}, \"placement\": {{", quoted(graph.name));
  for (size_t i = 0; i < nodes.size(); ++i)
    fmt::format_to(to, "{}{}: {}", i ? ", " : "", nodes[i], devices[plan.device[i]]);
  fmt::format_to(to, "}}");
  if (!plan.order.empty()) {
    fmt::format_to(to, ", \"order\": [");
    for (size_t k = 0; k < plan.order.size(); ++k)
      fmt::format_to(to, "{}{}", k ? ", " : "", nodes[plan.order[k]]);
    fmt::format_to(to, "]");
  }
  if (!plan.call.empty()) {
    fmt::format_to(to, ", \"calls\": {{");
    for (size_t i = 0; i < nodes.size(); ++i)
      fmt::format_to(to, "{}{}: {}", i ? ", " : "", nodes[i], plan.call[i]);
    fmt::format_to(to, "}}");
  }
  const bool throughput = graph.model == PlanModel::kMaxLoad;
  fmt::format_to(to, ", \"{}\": {}, \"bound_s\": {}, \"optimal\": {}, \"quality\": {}",
                 throughput ? "bottleneck_s" : "makespan_s", plan.value, plan.bound, plan.optimal,
                 quoted(plan_quality(plan)));
  fmt::format_to(to,
                 ", \"found_by\": {}, \"evaluations\": {}, \"first_plan_ms\": {:.3f}, "
                 "\"total_ms\": {:.3f}}}",
                 quoted(plan.found_by), plan.evaluations, plan.first_ms, plan.total_ms);
  return fmt::to_string(out);
}

}  // namespace emplace::cli
