// The nodes of an import.
#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/device_name.h"
#include "emplace/error.h"
#include "graph/attr_proto.h"
#include "graph/function_def.h"
#include "graph/graph_import.h"
#include "graph/tensor_proto.h"
#include "op/attr_check.h"

namespace emplace {
namespace {

constexpr std::string_view kGroup = "loc:@";

std::string type_text(DType t, bool is_ref) {
  return std::string(dtype_proto_name(t)) + (is_ref ? "_ref" : "");
}

std::vector<Shape> output_shapes(AttrList& attrs) {
  const auto it = std::ranges::find(attrs, "_output_shapes", [](const auto& a) { return a.first; });
  if (it == attrs.end()) return {};
  std::vector<Shape> shapes;
  if (it->second.is<std::vector<Shape>>()) shapes = it->second.as<std::vector<Shape>>();
  attrs.erase(it);
  return shapes;
}

}  // namespace

void GraphImporter::import_functions() {
  const auto known = [&](const std::string& name) -> std::shared_ptr<const Function> {
    const auto it = state_.function_index.find(name);
    return it == state_.function_index.end() ? nullptr : state_.functions[it->second];
  };
  for (auto& f : from_proto(def_.library(), graph_.ops(), known))
    state_.insert_function(std::move(f));
}

void GraphImporter::add_nodes() {
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < planned_.size(); ++i)
    if (planned_[i].waits_for == 0) ready.push(static_cast<int>(i));
  size_t done = 0;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    add_node(i);
    ++done;
    for (int reader : readers_[static_cast<size_t>(i)])
      if (--planned_[static_cast<size_t>(reader)].waits_for == 0) ready.push(reader);
  }
  if (done < planned_.size())
    throw invalid_argument(fmt::format("{} nodes in a cycle", planned_.size() - done));
}

std::vector<std::string> GraphImporter::colocation(const proto::NodeDef& def,
                                                   const std::vector<std::string>& groups) const {
  std::vector<std::string> out;
  for (const std::string& group : groups) {
    if (!group.starts_with(kGroup)) {
      out.push_back(group);
      continue;
    }
    const std::string partner = group.substr(kGroup.size());
    const auto it = index_.find(partner);
    if (it == index_.end() && options_.validate_colocation)
      throw invalid_argument(fmt::format("Node '{}' expects to be colocated with unknown node '{}'",
                                         def.name(), partner));
    out.push_back(std::string(kGroup) +
                  (it == index_.end() ? prefix_ + partner
                                      : planned_[static_cast<size_t>(it->second)].name));
  }
  return out;
}

AttrList GraphImporter::attrs_of(const proto::NodeDef& def, const OpDef& op,
                                 const std::string& name) const {
  AttrList attrs;
  try {
    attrs = attrs_from_proto(def.attr());
  } catch (Error& e) {
    throw e.at_node(name, def.op());
  }
  for (auto& [key, value] : attrs) {
    if (key == "_class" && value.is<std::vector<std::string>>())
      value = colocation(def, value.as<std::vector<std::string>>());
    if (const AttrDef* attr = op.find_attr(key)) check_attr(op, *attr, value, name);
  }
  for (const AttrDef& attr : op.attrs) {
    if (find_attr(attrs, attr.name) != nullptr) continue;
    if (!attr.default_value.is_set())
      throw invalid_argument(fmt::format("NodeDef missing attr '{}' from {}{}", attr.name,
                                         op.summary(), node_clause(name)));
    set_attr(attrs, attr.name, attr.default_value);
  }
  return attrs;
}

// Data inputs in order, control inputs into the options. An input that closes a loop is not there
// yet: its Merge reads its first input twice until then.
void GraphImporter::gather_inputs(int i, const OpDef&, std::vector<Output>& inputs,
                                  NodeOptions& options) {
  const Planned& p = planned_[static_cast<size_t>(i)];
  bool follows_import = false;
  for (const Source& s : p.sources) {
    if (s.back_edge) {
      inputs.push_back({});
      continue;
    }
    const Planned* from = s.node < 0 ? nullptr : &planned_[static_cast<size_t>(s.node)];
    if (from != nullptr && from->made == nullptr)
      throw invalid_argument(fmt::format("Node '{}' reads node '{}', which is mapped away",
                                         def_.node(i).name(), def_.node(s.node).name()));
    Node* node = from == nullptr ? s.mapped.node : from->made;
    const int index = from == nullptr ? s.mapped.index : s.index;
    follows_import |= from != nullptr;
    if (index < 0) {
      options.control_inputs.push_back(node);
      continue;
    }
    if (index >= node->num_outputs())
      throw invalid_argument(fmt::format("Node '{}': Connecting to invalid output {} of source "
                                         "node {} which has {} outputs.",
                                         def_.node(i).name(), index,
                                         from == nullptr ? node->name() : def_.node(s.node).name(),
                                         node->num_outputs()));
    inputs.push_back({node, index});
  }
  if (!follows_import)
    options.control_inputs.insert(options.control_inputs.end(), options_.control_inputs.begin(),
                                  options_.control_inputs.end());
  const auto first = std::ranges::find_if(inputs, [](const Output& o) { return bool(o); });
  for (Output& in : inputs)
    if (!in && first != inputs.end()) in = *first;
}

void GraphImporter::check_types(const OpDef& op, const AttrList& attrs, const std::string& name,
                                std::span<const Output> inputs) const {
  const std::vector<DType> types = input_types(op, attrs);
  const std::vector<bool> refs = input_refs(op, attrs);
  if (types.size() != inputs.size()) {
    std::vector<std::string> expected;
    for (size_t i = 0; i < types.size(); ++i) expected.push_back(type_text(types[i], refs[i]));
    throw invalid_argument(fmt::format(
        "NodeDef expected inputs '{}' do not match {} inputs specified; {}{}",
        fmt::join(expected, ", "), inputs.size(), op.summary(), node_clause(name)));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const Output& in = inputs[i];
    if (in && in.dtype() == types[i] && (in.is_ref() || !refs[i])) continue;
    if (!in)
      throw invalid_argument(fmt::format("Node '{}': all inputs close a loop", name));
    throw invalid_argument(fmt::format(
        "Input {} of node {} was passed {} from {} incompatible with expected {}.", i, name,
        type_text(in.dtype(), in.is_ref()), in.name(), type_text(types[i], refs[i])));
  }
}

// The innermost frame of the node's trace, in either of the two forms that TensorFlow has written.
std::string GraphImporter::source_of(const std::string& node) const {
  const proto::GraphDebugInfo& info = def_.debug_info();
  const auto text = [&](const proto::GraphDebugInfo::FileLineCol& frame) -> std::string {
    if (frame.file_index() < 0 || frame.file_index() >= info.files_size()) return {};
    return fmt::format("{}:{}", info.files(frame.file_index()), frame.line());
  };
  if (const auto trace = info.traces().find(node); trace != info.traces().end())
    if (const auto& frames = trace->second.file_line_cols(); !frames.empty())
      return text(frames[frames.size() - 1]);
  const auto id = info.name_to_trace_id().find(node);
  if (id == info.name_to_trace_id().end()) return {};
  const auto trace = info.traces_by_id().find(id->second);
  if (trace == info.traces_by_id().end() || trace->second.frame_id().empty()) return {};
  const auto& ids = trace->second.frame_id();
  const auto frame = info.frames_by_id().find(ids[ids.size() - 1]);
  return frame == info.frames_by_id().end() ? std::string() : text(frame->second);
}

void GraphImporter::add_node(int i) {
  const proto::NodeDef& def = def_.node(i);
  Planned& p = planned_[static_cast<size_t>(i)];
  const OpDef& op = state_.op_for(def.op());
  AttrList attrs = attrs_of(def, op, p.name);
  const std::vector<Shape> shapes = output_shapes(attrs);
  if (options_.skip_mapped_nodes && !input_map_.empty()) {
    const size_t outputs = output_types(op, attrs).size();
    bool mapped = outputs > 0;
    for (size_t k = 0; k < outputs; ++k)
      mapped = mapped && input_map_.contains(fmt::format("{}:{}", def.name(), k));
    if (mapped) return;
  }
  std::vector<Output> inputs;
  NodeOptions options;
  gather_inputs(i, op, inputs, options);
  check_types(op, attrs, p.name, inputs);
  options.name = p.name;
  options.exact_name = options.raw = true;
  if (def_.has_debug_info()) options.source = source_of(def.name());
  options.device = def.device().empty() ? options_.default_device : def.device();
  try {
    p.made = state_.add_raw(op, inputs, std::move(attrs), options);
  } catch (Error& e) {
    throw e.at_node(p.name, def.op());
  }
  take_shapes(p.made, shapes);
}

// Shapes that the GraphDef claims, from a program that knew more; a claim that contradicts what we
// know is an error.
void GraphImporter::take_shapes(Node* node, const std::vector<Shape>& shapes) {
  const auto n = std::min(shapes.size(), static_cast<size_t>(node->num_outputs()));
  for (size_t i = 0; i < n; ++i) {
    try {
      state_.merge_shape({node, static_cast<int>(i)}, shapes[i]);
    } catch (const Error& e) {
      throw invalid_argument(fmt::format("Node '{}' has an _output_shapes attribute inconsistent "
                                         "with the GraphDef for output #{}: {}",
                                         node->name(), i, e.message()));
    }
  }
}

void GraphImporter::close_loops() {
  for (const Planned& p : planned_) {
    for (size_t k = 0; k < p.sources.size(); ++k) {
      if (!p.sources[k].back_edge || p.made == nullptr) continue;
      Node* from = planned_[static_cast<size_t>(p.sources[k].node)].made;
      if (from == nullptr) throw invalid_argument("A loop's back edge is mapped away");
      state_.replace_input(p.made, static_cast<int>(k), {from, p.sources[k].index});
    }
  }
}

void GraphImporter::merge_versions() {
  GraphVersions& ours = state_.versions;
  const proto::VersionDef& theirs = def_.versions();
  if (!def_.has_versions()) return;
  ours.producer = std::min(ours.producer, theirs.producer());
  ours.min_consumer = std::max(ours.min_consumer, theirs.min_consumer());
  for (int bad : theirs.bad_consumers())
    if (std::ranges::find(ours.bad_consumers, bad) == ours.bad_consumers.end())
      ours.bad_consumers.push_back(bad);
}

// As Python's importer: blocks of this thread fill what a node's own request leaves open; a
// colocated node takes its partner's device instead.
void GraphImporter::apply_device_scopes() {
  const ScopeStacks* scopes = find_scopes(state_.number);
  // A copy: the user's functions may open blocks of their own.
  const auto devices = scopes == nullptr ? std::vector<DeviceScope>() : scopes->devices;
  const auto is_colocated = [](const Node* n) {
    return n->colocation_groups()[0] != std::string(kGroup) + n->name();
  };
  const auto nothing_to_show = [](const std::string&) {};
  for (const Planned& p : planned_) {
    if (p.made == nullptr) continue;
    if (is_colocated(p.made)) graph_.set_device(p.made, "");
    else if (!devices.empty())
      graph_.set_device(p.made, device_from(devices, *p.made, nothing_to_show));
    else if (!p.made->device().empty())
      graph_.set_device(p.made, DeviceName::parse(p.made->device()).to_string());
  }
  for (const Planned& p : planned_) {
    if (p.made == nullptr || !is_colocated(p.made)) continue;
    for (const std::string& group : p.made->colocation_groups()) {
      const Node* partner = graph_.find(group.substr(kGroup.size()));
      if (partner == nullptr || partner->device().empty()) continue;
      graph_.set_device(p.made, partner->device());
      break;
    }
  }
}

}  // namespace emplace
