// Which nodes must stay together: references, resources, functions that pass them on, `_class`.
#include <fmt/format.h>

#include "placement/colocation.h"
#include "placement/place_error.h"

namespace emplace::placement {
namespace {

constexpr std::string_view kGroupPrefix = "loc:@";

Error incompatible(const Context& context, const char* what, int a, int b, const Node& source,
                   const Node& target) {
  return about(target, Code::kInvalidArgument,
               fmt::format("Cannot place the graph because a reference or resource edge connects "
                           "colocation groups with incompatible {} devices: {} vs {}. The edge src "
                           "node is name='{}' (op='{}'), and the dst node is name='{}' (op='{}').",
                           what, context.specs[a].to_string(), context.specs[b].to_string(),
                           source.name(), source.type(), target.name(), target.type()));
}

bool has_variant_input(const Node& node) {
  for (const Output& in : node.inputs()) {
    if (in.dtype() == DType::kVariant) return true;
  }
  return false;
}

}  // namespace

// ---- References and resources.

void Colocation::tie_edges() {
  for (int i : tied_) {
    const Node& node = *nodes_[i];
    const auto inputs = node.inputs();
    for (int k = 0; k < static_cast<int>(inputs.size()); ++k) {
      const int source = index_.of(inputs[k].node);
      if (source < 0 || !ties(inputs[k], source, i, k)) continue;
      const int from = endpoint(inputs[k]);
      if (from == source) {
        tie(source, i);
      } else {
        late_edges_.emplace_back(from, i);
      }
    }
  }
}

bool Colocation::ties(const Output& source, int source_node, int i, int input) const {
  const DType type = source.node->output_type(source.index);
  const OpClass& reader = op(i);
  if (type == DType::kVariant) return reader.dataset && op(source_node).dataset;
  if (reader.exempt) return false;
  if (type == DType::kResource) return true;
  return reader.has_ref_inputs && source.is_ref() && is_ref_input(*nodes_[i], input);
}

// The target's wish gives way to the source's; what is fixed on both sides must agree.
void Colocation::tie(int source, int target) {
  const Member& from = root(source);
  Member& to = members_[find(target)];
  if (&from == &to) return;
  SpecTable& specs = context_.specs;
  const Node &a = node(source), &b = node(target);
  if (!specs.compatible(from.assigned, to.assigned)) {
    throw incompatible(context_, "assigned", from.assigned, to.assigned, a, b);
  }
  if (!specs.compatible(from.resource, to.resource)) {
    throw incompatible(context_, "resource", from.resource, to.resource, a, b);
  }
  if (!specs.compatible(from.requested, to.requested)) {
    if (context_.options.log) {
      context_.notes.push_back(fmt::format(
          "Ignoring device specification {} for node '{}' because the input edge from '{}' is a "
          "reference connection and already has a device field set to {}",
          specs[to.requested].to_string(), b.name(), a.name(), specs[from.requested].to_string()));
    }
    to.requested = specs.imprint(specs.imprint(from.requested, to.assigned), to.resource);
    to.overridden = true;
  }
  if (auto problem = unite(source, target)) {
    throw attached(b, Code::kInvalidArgument,
                   "Nodes were connected by a reference or resource connection (requiring them to "
                   "be on the same device), but the two nodes were assigned two different "
                   "devices: " + *problem);
  }
}

// ---- Resources that pass through function calls.

void Colocation::tie_ports() {
  for (const Call& call : calls_) {
    const auto inputs = nodes_[call.node]->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (call.in[k] < 0) continue;
      if (const int from = endpoint(inputs[k]); from >= 0) tie(from, call.in[k]);
    }
  }
  for (const auto& [from, to] : late_edges_) tie(from, to);
  for (const Call& call : calls_) {
    apply(call, context_.functions.of(*nodes_[call.node], function_));
  }
}

void Colocation::apply(const Call& call, const ResourceGroups& groups) {
  if (groups.inputs.size() != call.in.size() || groups.outputs.size() != call.out.size()) {
    const Node& node = *nodes_[call.node];
    throw attached(node, Code::kInvalidArgument,
                   fmt::format("Function {} takes {} inputs and gives {} outputs, but the call has "
                               "{} and {}",
                               function_name(node), groups.inputs.size(), groups.outputs.size(),
                               call.in.size(), call.out.size()));
  }
  std::vector<int> first(groups.constraints.size(), -1);
  const auto join = [&](int port, int group, bool output) {
    if (port < 0 || group < 0) return;
    if (first[group] < 0) {
      first[group] = port;
    } else if (output) {
      tie(first[group], port);
    } else if (auto problem = unite(first[group], port)) {
      throw attached(node(port), Code::kInvalidArgument, *problem);
    }
  };
  for (size_t k = 0; k < call.in.size(); ++k) join(call.in[k], groups.inputs[k], false);
  for (size_t k = 0; k < call.out.size(); ++k) join(call.out[k], groups.outputs[k], true);
  for (size_t g = 0; g < first.size(); ++g) {
    if (first[g] >= 0) limit(first[g], groups.constraints[g]);
  }
}

void Colocation::limit(int member, const ResourceGroups::Constraint& constraint) {
  Member& m = members_[find(member)];
  SpecTable& specs = context_.specs;
  const bool soft = context_.options.allow_soft_placement;
  const int requested = specs.merge(m.requested, constraint.requested, soft);
  const int resource = specs.merge(m.resource, constraint.resource, false);
  if (requested == SpecTable::kBad || resource == SpecTable::kBad) {
    throw attached(node(member), Code::kInvalidArgument,
                   requested == SpecTable::kBad ? specs.conflict(m.requested, constraint.requested)
                                                : specs.conflict(m.resource, constraint.resource));
  }
  m.requested = requested;
  m.resource = resource;
  const int types = context_.types.intersect(m.types, constraint.types);
  if (types != TypeTable::kNone) m.types = types;
}

// ---- Groups by name. Every node is in the group of its own name, whether or not that node is
// there; only names that somebody mentions need a look.

void Colocation::tie_named_groups() {
  if (asking_.empty()) return;
  TextMap<int> first;  // group -> its first node; -1: none yet
  for (const auto& [node, groups] : asking_) {
    for (std::string_view group : *groups) {
      if (group.starts_with(kGroupPrefix)) first.emplace(group.substr(kGroupPrefix.size()), -1);
    }
  }
  auto next = asking_.begin();
  for (int i = 0; i < size(); ++i) {
    if (next != asking_.end() && next->first == i) {
      for (std::string_view group : *next->second) {
        if (!group.starts_with(kGroupPrefix)) continue;
        join_group(i, group.substr(kGroupPrefix.size()), first);
      }
      ++next;
    }
    join_group(i, nodes_[i]->name(), first);
  }
}

void Colocation::join_group(int i, std::string_view group, TextMap<int>& first) {
  const auto found = first.find(group);
  if (found == first.end()) return;
  if (found->second < 0) {
    found->second = i;
    return;
  }
  const auto problem = unite(i, found->second);
  if (!problem) return;
  const Error error = attached(*nodes_[i], Code::kInvalidArgument, *problem);
  if (!context_.options.allow_soft_placement) throw error;
  if (!context_.options.log) return;
  context_.notes.push_back(
      fmt::format("Ignoring request to colocate node '{}' with nodes in colocation group '{}' "
                  "because soft placement is on and an attempt at doing so resulted in the "
                  "following error: {}",
                  nodes_[i]->name(), group, error.message()));
}

// ---- What limits types beyond kernels.

// Lists of strings or handles live in host memory, whatever kernels say of the list itself.
void Colocation::keep_host_elements_on_cpu() {
  using Elements = OpClass::Elements;
  std::vector<Elements> elements;
  for (int i : tied_) {
    const Node& node = *nodes_[i];
    const bool reads = has_variant_input(node);
    if (elements.empty() && !reads && op(i).elements == Elements::kUnknown) continue;
    elements.resize(size(), Elements::kUnknown);
    elements[i] = op(i).elements;
    for (const Output& in : node.inputs()) {
      const int source = index_.of(in.node);
      if (elements[i] != Elements::kUnknown || source < 0) continue;
      if (in.dtype() == DType::kVariant) elements[i] = elements[source];
    }
    if (!reads || elements[i] != Elements::kHost) continue;
    Member& m = members_[find(i)];
    if (const int cpu = context_.types.only(m.types, "CPU"); cpu != TypeTable::kNone) m.types = cpu;
  }
}

void Colocation::leave_xla_out() {
  if (!context_.types.has_xla()) return;
  const auto names_xla = [&](int spec) {
    const auto& type = context_.specs[spec].type;
    return type && TypeTable::is_xla(*type);
  };
  for (int i = 0; i < size(); ++i) {
    Member& m = members_[find(i)];
    if (names_xla(m.requested) || names_xla(m.assigned) || names_xla(m.resource)) continue;
    m.types = context_.types.without_xla(m.types);
  }
}

}  // namespace emplace::placement
