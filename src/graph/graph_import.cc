// What an import works out before it adds anything.
#include "graph/graph_import.h"
#include "graph/removed_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {
namespace {

std::string key_of(std::string_view node, int index) {
  return index < 0 ? fmt::format("^{}", node) : fmt::format("{}:{}", node, index);
}

std::string key_of(const SourceName& s) { return key_of(s.node, s.index); }

bool is_merge(const proto::NodeDef& n) { return n.op() == "Merge" || n.op() == "RefMerge"; }
bool is_next_iteration(const proto::NodeDef& n) {
  return n.op() == "NextIteration" || n.op() == "RefNextIteration";
}

}  // namespace

GraphImporter::GraphImporter(Graph& graph, const proto::GraphDef& def, const ImportOptions& options)
    : graph_(graph), state_(*graph.state_), def_(def), options_(options) {}

void GraphImporter::check_control_order(const proto::NodeDef& node) const {
  bool control = false;
  for (const std::string& input : node.input()) {
    if (input.starts_with('^')) control = true;
    else if (control)
      throw invalid_argument(fmt::format(
          "Node '{}': Control dependencies must come after regular dependencies", node.name()));
  }
}

void GraphImporter::index_nodes() {
  index_.reserve(static_cast<size_t>(def_.node_size()));
  planned_.resize(static_cast<size_t>(def_.node_size()));
  for (int i = 0; i < def_.node_size(); ++i) {
    const proto::NodeDef& node = def_.node(i);
    std::string_view name = node.name();
    if (options_.allow_internal_names && name.starts_with('_')) name.remove_prefix(1);
    if (!is_valid_node_name(name))
      throw invalid_argument(
          fmt::format("Node '{}': Node name contains invalid characters", node.name()));
    if (!index_.emplace(node.name(), i).second)
      throw invalid_argument(fmt::format("Node '{}' is not unique", node.name()));
    if (node.op().empty())
      throw invalid_argument(fmt::format("Node '{}' does not specify an operation", node.name()));
    check_control_order(node);
  }
}

// All unknown ops at once, with where they are used: who has to add them sees the whole list.
void GraphImporter::check_ops() const {
  struct Use {
    std::string_view op;
    std::string first;
    int more = 0;
  };
  std::unordered_set<std::string_view> functions;
  for (const auto& f : def_.library().function()) functions.insert(f.signature().name());
  std::vector<Use> unknown;
  const auto look = [&](const proto::NodeDef& node, std::string_view function) {
    if (graph_.ops().find(node.op()) != nullptr || functions.contains(node.op()) ||
        state_.function_ops.contains(node.op()))
      return;
    const auto it = std::ranges::find(unknown, node.op(), &Use::op);
    if (it != unknown.end()) {
      ++it->more;
      return;
    }
    unknown.push_back({node.op(), fmt::format("node '{}'", node.name())});
    if (!function.empty()) unknown.back().first += fmt::format(" of function '{}'", function);
  };
  for (const proto::NodeDef& node : def_.node()) look(node, "");
  for (const auto& f : def_.library().function())
    for (const proto::NodeDef& node : f.node_def()) look(node, f.signature().name());
  if (unknown.empty()) {
    for (const proto::NodeDef& node : def_.node())
      check_not_removed(node.op(), def_.versions().producer());
    return;
  }
  std::string names;
  for (const Use& u : unknown) {
    names += fmt::format("{}'{}' ({}", names.empty() ? "" : ", ", u.op, u.first);
    names += u.more > 0 ? fmt::format(" and {} more)", u.more) : ")";
  }
  throw not_found((unknown.size() == 1 ? "Op type not registered " : "Op types not registered: ") +
                  names);
}

void GraphImporter::index_input_map() {
  for (const auto& [key, target] : options_.input_map) {
    const SourceName source = parse_source(key);
    state_.check_owned(target.node, "Target of input_map: node");
    const std::string to = key_of(target.node->name(), target.index);
    if ((source.index < 0) != (target.index < 0))
      throw invalid_argument(fmt::format(
          "input_map entry {}->{} between control edge and non-control edge", key_of(source), to));
    if (target.index >= target.node->num_outputs())
      throw invalid_argument(fmt::format("input_map entry {}->{}: node '{}' has {} outputs",
                                         key_of(source), to, target.node->name(),
                                         target.node->num_outputs()));
    input_map_.insert_or_assign(key_of(source), target);
  }
  for (Node* node : options_.control_inputs) state_.check_owned(node, "Control input");
}

bool GraphImporter::is_taken(const std::string& name) const {
  return state_.names.find(name) != nullptr || prefixes_.contains(name);
}

std::string GraphImporter::unique_name(const std::string& original) const {
  std::string name = original;
  for (int count = 1; is_taken(name) || (count > 1 && index_.contains(name)); ++count)
    name = fmt::format("{}_{}", original, count);
  return name;
}

void GraphImporter::choose_prefix() {
  if (options_.uniquify_names || options_.uniquify_prefix)
    for (const auto& node : state_.nodes)
      for (size_t at = node->name().find('/'); at != std::string::npos;
           at = node->name().find('/', at + 1))
        prefixes_.insert(node->name().substr(0, at));
  prefix_ = options_.prefix;
  if (prefix_.empty()) return;
  if (prefix_.ends_with('/')) prefix_.pop_back();
  if (!is_valid_node_name(prefix_))
    throw invalid_argument(fmt::format(
        "Imported node name prefix '{}/' would lead to invalid node names", prefix_));
  if (options_.uniquify_prefix) prefix_ = unique_name(prefix_);
  prefix_ += '/';
}

void GraphImporter::choose_names() {
  std::unordered_set<std::string> chosen;
  for (int i = 0; i < def_.node_size(); ++i) {
    std::string& name = planned_[static_cast<size_t>(i)].name;
    name = prefix_ + def_.node(i).name();
    if (options_.uniquify_names) {
      const std::string original = name;
      for (int count = 1;
           is_taken(name) || chosen.contains(name) || (count > 1 && index_.contains(name)); ++count)
        name = fmt::format("{}_{}", original, count);
      chosen.insert(name);
    } else if (state_.names.find(name) != nullptr) {
      throw invalid_argument(
          fmt::format("Node name '{}' already exists in the Graph", name));
    }
  }
}

GraphImporter::Source GraphImporter::resolve(const proto::NodeDef& node, const std::string& input) {
  const SourceName name = parse_source(input);
  Source out;
  out.index = name.index;
  const std::string key = input_map_.empty() ? std::string() : key_of(name);
  if (const auto mapped = input_map_.find(key); mapped != input_map_.end()) {
    used_keys_.insert(key);
    out.mapped = mapped->second;
    return out;
  }
  const auto it = index_.find(name.node);
  if (it == index_.end())
    throw invalid_argument(
        fmt::format("Node '{}': Unknown input node '{}'", node.name(), input));
  out.node = it->second;
  out.back_edge = is_merge(node) && is_next_iteration(def_.node(it->second));
  return out;
}

void GraphImporter::resolve_sources() {
  for (int i = 0; i < def_.node_size(); ++i) {
    const proto::NodeDef& node = def_.node(i);
    Planned& p = planned_[static_cast<size_t>(i)];
    p.sources.reserve(static_cast<size_t>(node.input_size()));
    for (const std::string& input : node.input()) p.sources.push_back(resolve(node, input));
  }
}

void GraphImporter::count_waits() {
  readers_.resize(planned_.size());
  for (size_t i = 0; i < planned_.size(); ++i)
    for (const Source& s : planned_[i].sources) {
      if (s.node < 0 || s.back_edge) continue;
      readers_[static_cast<size_t>(s.node)].push_back(static_cast<int>(i));
      ++planned_[i].waits_for;
    }
}

void GraphImporter::check_returns() const {
  for (const std::string& text : options_.return_tensors) {
    const SourceName name = parse_source(text);
    if (!index_.contains(name.node) && !input_map_.contains(key_of(name)))
      throw invalid_argument(
          fmt::format("Requested return tensor '{}' not found in graph def", key_of(name)));
  }
  for (const std::string& name : options_.return_nodes)
    if (!index_.contains(name))
      throw invalid_argument(
          fmt::format("Requested return node '{}' not found in graph def", name));
}

ImportResult GraphImporter::run() {
  check_versions(def_.versions());
  {
    std::unique_lock lock(graph_.mutex_);
    state_.check_open();
    index_nodes();
    check_ops();
    index_input_map();
    choose_prefix();
    choose_names();
    resolve_sources();
    count_waits();
    check_returns();
    const size_t nodes = state_.nodes.size(), functions = state_.functions.size();
    try {
      import_functions();
      add_nodes();
      close_loops();
      result();  // throws unless what is asked for is there
      merge_versions();
    } catch (...) {
      state_.take_back(nodes);
      while (state_.functions.size() > functions) {
        state_.function_index.erase(state_.functions.back()->name);
        state_.function_ops.erase(state_.functions.back()->name);
        state_.functions.pop_back();
      }
      throw;
    }
  }
  if (options_.apply_device_scopes) apply_device_scopes();
  return result();
}

ImportResult GraphImporter::result() const {
  ImportResult out;
  for (const Planned& p : planned_) out.nodes.push_back(p.made);
  for (const std::string& text : options_.return_tensors) {
    const SourceName name = parse_source(text);
    if (const auto mapped = input_map_.find(key_of(name)); mapped != input_map_.end()) {
      out.outputs.push_back(mapped->second);
      continue;
    }
    Node* node = planned_[static_cast<size_t>(index_.at(name.node))].made;
    if (node == nullptr)
      throw invalid_argument(fmt::format(
          "Requested return tensor '{}' is of a node that was skipped", key_of(name)));
    if (name.index >= 0 && name.index >= node->num_outputs())
      throw invalid_argument(fmt::format("Invalid return output {} of node '{}', which has {} "
                                         "output(s)",
                                         name.index, name.node, node->num_outputs()));
    out.outputs.push_back({node, name.index});
  }
  for (const std::string& name : options_.return_nodes)
    out.returned_nodes.push_back(planned_[static_cast<size_t>(index_.at(name))].made);
  for (const auto& [key, target] : options_.input_map) {
    const SourceName source = parse_source(key);
    const auto it = index_.find(source.node);
    const Node* node = it == index_.end() ? nullptr : planned_[static_cast<size_t>(it->second)].made;
    const bool exists = node != nullptr && source.index < node->num_outputs();
    if (!used_keys_.contains(key_of(source)) && !exists) out.missing_unused_keys.push_back(key);
  }
  return out;
}

ImportResult import_graph_def(Graph& graph, const proto::GraphDef& def,
                              const ImportOptions& options) {
  return GraphImporter(graph, def, options).run();
}

}  // namespace emplace
