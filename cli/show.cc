#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "common.h"

namespace emplace::cli {
namespace {

struct ShowArguments {
  std::string graph;
  std::vector<std::string> tags;
};

struct Parameter {
  std::string name, op, device;
  DType dtype;
  Shape shape;
};

struct Summary {
  std::map<std::string, int> ops, devices;
  std::vector<Parameter> parameters;
  std::vector<const Node*> inputs, outputs;
  double constant_bytes = 0;
  size_t control_edges = 0, edges = 0;
};

DType type_attr(const Node& n, const char* name) {
  const AttrValue* v = n.attr(name);
  return v && v->is<DType>() ? v->as<DType>() : DType::kInvalid;
}

Shape shape_attr(const Node& n) {
  const AttrValue* v = n.attr("shape");
  return v && v->is<Shape>() ? v->as<Shape>() : Shape::unknown();
}

bool is_parameter(const Node& n) {
  return n.type() == "VariableV2" || n.type() == "Variable" || n.type() == "VarHandleOp";
}

Summary summary_of(const Graph& graph) {
  Summary s;
  std::set<const Node*> read;
  const std::vector<Node*> nodes = graph.nodes();
  for (const Node* n : nodes) {
    ++s.ops[n->type()];
    ++s.devices[n->device()];
    for (const Output& in : n->inputs()) read.insert(in.node);
    s.edges += n->inputs().size();
    s.control_edges += n->control_inputs().size();
    if (is_parameter(*n))
      s.parameters.push_back({n->name(), n->type(), n->device(), type_attr(*n, "dtype"),
                              shape_attr(*n)});
    if (n->type().starts_with("Placeholder")) s.inputs.push_back(n);
    if (n->type() == "Const")
      if (const AttrValue* v = n->attr("value"); v && v->is<Tensor>())
        s.constant_bytes += static_cast<double>(v->as<Tensor>().bytes());
  }
  for (const Node* n : nodes)
    if (!read.contains(n) && n->num_outputs() > 0 && !is_parameter(*n)) s.outputs.push_back(n);
  return s;
}

int64_t elements(const Shape& s) { return std::max<int64_t>(0, s.num_elements()); }

double bytes(const Parameter& p) {
  return static_cast<double>(elements(p.shape)) *
         (p.dtype == DType::kInvalid ? 0. : static_cast<double>(dtype_size(p.dtype)));
}

std::vector<std::pair<std::string, int>> by_count(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> out(counts.begin(), counts.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

Json arguments_json(const std::vector<Model::Argument>& list) {
  Json out = Json::object();
  for (const Model::Argument& a : list)
    out[a.key] = {{"tensor", a.tensor}, {"dtype", dtype_name(a.dtype)}, {"shape", a.shape.str()}};
  return out;
}

Json tensors_json(const std::vector<const Node*>& nodes) {
  Json out = Json::array();
  for (const Node* n : nodes)
    for (int i = 0; i < n->num_outputs(); ++i)
      out.push_back({{"tensor", fmt::format("{}:{}", n->name(), i)},
                     {"dtype", dtype_name(n->output_type(i))},
                     {"shape", n->output_shape(i).str()}});
  return out;
}

void print_json(const Model& m, const Summary& s) {
  Json out;
  const GraphVersions v = m.graph->versions();
  out["nodes"] = m.graph->num_nodes();
  out["edges"] = s.edges;
  out["control_edges"] = s.control_edges;
  out["versions"] = {{"producer", v.producer}, {"min_consumer", v.min_consumer}};
  out["ops"] = Json::object();
  for (const auto& [op, count] : by_count(s.ops)) out["ops"][op] = count;
  out["devices"] = Json::object();
  for (const auto& [device, count] : by_count(s.devices)) out["devices"][device] = count;
  int64_t total = 0;
  out["parameters"] = Json::array();
  for (const Parameter& p : s.parameters) {
    total += elements(p.shape);
    out["parameters"].push_back({{"name", p.name}, {"op", p.op}, {"dtype", dtype_name(p.dtype)},
                                 {"shape", p.shape.str()}, {"device", p.device}});
  }
  out["num_parameters"] = total;
  out["constant_bytes"] = s.constant_bytes;
  out["functions"] = Json::array();
  for (const auto& f : m.graph->functions())
    out["functions"].push_back({{"name", f->name}, {"nodes", f->body->num_nodes()},
                                {"inputs", f->inputs.size()}, {"outputs", f->outputs.size()}});
  out["inputs"] = tensors_json(s.inputs);
  out["outputs"] = tensors_json(s.outputs);
  out["tags"] = m.tags;
  out["signatures"] = Json::object();
  for (const Model::Signature& g : m.signatures)
    out["signatures"][g.name] = {{"method", g.method}, {"inputs", arguments_json(g.inputs)},
                                 {"outputs", arguments_json(g.outputs)}};
  print(out);
}

void print_tensors(const char* title, const std::vector<const Node*>& nodes) {
  if (nodes.empty()) return;
  std::cout << '\n' << title << '\n';
  std::vector<std::vector<std::string>> rows;
  for (const Node* n : nodes)
    for (int i = 0; i < n->num_outputs() && rows.size() < 50; ++i)
      rows.push_back({fmt::format("  {}:{}", n->name(), i), std::string(dtype_name(n->output_type(i))),
                      n->output_shape(i).str()});
  print_table(rows);
  if (rows.size() == 50) std::cout << "  ...\n";
}

void print_arguments(const char* title, const std::vector<Model::Argument>& list) {
  for (const Model::Argument& a : list)
    std::cout << fmt::format("    {} {}: {} {} ({})\n", title, a.key, dtype_name(a.dtype),
                             a.shape.str(), a.tensor);
}

void print_text(const Model& m, const Summary& s) {
  const GraphVersions v = m.graph->versions();
  std::cout << fmt::format("{} nodes, {} edges, {} control edges, {} functions (producer {})\n",
                           m.graph->num_nodes(), s.edges, s.control_edges,
                           m.graph->functions().size(), v.producer);
  int64_t total = 0;
  double size = 0;
  for (const Parameter& p : s.parameters) total += elements(p.shape), size += bytes(p);
  std::cout << fmt::format("{} variables with {} parameters ({}); constants: {}\n",
                           s.parameters.size(), total, size_text(size), size_text(s.constant_bytes));
  std::cout << "\nops\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [op, count] : by_count(s.ops)) rows.push_back({"  " + op, std::to_string(count)});
  print_table(rows);
  std::cout << "\nrequested devices\n";
  rows.clear();
  for (const auto& [device, count] : by_count(s.devices))
    rows.push_back({"  " + (device.empty() ? "(any)" : device), std::to_string(count)});
  print_table(rows);
  if (!s.parameters.empty()) {
    std::cout << "\nparameters\n";
    rows.clear();
    for (const Parameter& p : s.parameters)
      rows.push_back({"  " + p.name, std::string(dtype_name(p.dtype)), p.shape.str(),
                      size_text(bytes(p))});
    print_table(rows);
  }
  print_tensors("inputs", s.inputs);
  print_tensors("outputs that no node reads", s.outputs);
  if (!m.signatures.empty()) std::cout << "\nsignatures\n";
  for (const Model::Signature& g : m.signatures) {
    std::cout << "  " << g.name << '\n';
    print_arguments("in ", g.inputs);
    print_arguments("out", g.outputs);
  }
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "show",
                             "What a graph consists of: ops, devices, parameters, inputs, outputs");
  auto a = std::make_shared<ShowArguments>();
  sub->add_option("graph", a->graph, "GraphDef (.pb, .pbtxt), MetaGraphDef (.meta) or SavedModel")
      ->required()
      ->type_name("GRAPH");
  sub->add_option("--tag", a->tags, "Tag of the graph in a SavedModel; may be repeated")
      ->type_name("TAG")
      ->allow_extra_args(false);
  sub->footer("Example: emplace show saved_model_folder");
  sub->callback([a, &context] {
    const Model model = load_model(a->graph, a->tags);
    const Summary summary = summary_of(*model.graph);
    if (context.json) print_json(model, summary);
    else print_text(model, summary);
  });
}

}  // namespace emplace::cli
