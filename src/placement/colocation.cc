#include "placement/colocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/look_ahead.h"
#include "placement/place_error.h"

namespace emplace::placement {
namespace {

// Variables and handles: asked to be somewhere, they stay there, and what uses them follows.
bool makes_resource(const Node& node) {
  return node.inputs().empty() && node.num_outputs() == 1 &&
         (node.output_is_ref(0) || node.output_type(0) == DType::kResource);
}

}  // namespace

bool returns_resource_from_call(const Node& node) {
  const std::string& op = node.type();
  if (op != "PartitionedCall" && op != "StatefulPartitionedCall") return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (node.output_type(i) == DType::kResource) return true;
  }
  return false;
}

Colocation::Colocation(Context& context, std::span<Node* const> nodes,
                       std::span<const int> placed, std::string function)
    : context_(context),
      nodes_(nodes),
      placed_(placed),
      function_(std::move(function)),
      index_(nodes) {}

void Colocation::build() {
  make_members();
  tie_edges();
  tie_ports();
  tie_named_groups();
  keep_host_elements_on_cpu();
  leave_xla_out();
}

// ---- Members.

void Colocation::make_members() {
  members_.resize(nodes_.size());
  classes_.resize(nodes_.size());
  bool flawed = false;
  for (int i = 0; i < size(); ++i) {
    look_ahead(nodes_, static_cast<size_t>(i));
    classes_[i] = context_.ops.find(*nodes_[i]);
    flawed |= make_member(i) != Flaw::kNone;
    if (may_be_tied(i)) tied_.push_back(i);
    if (const AttrValue* groups = nodes_[i]->attr("_class");
        groups && groups->is<std::vector<std::string>>())
      asking_.emplace_back(i, &groups->as<std::vector<std::string>>());
  }
  if (flawed) {
    for (int i : log_order(nodes_)) report_flaw(i, make_member(i));
  }
  for (int i = 0; i < size(); ++i) {
    if (op(i).calls && returns_resource_from_call(*nodes_[i])) add_ports(i);
  }
}

bool Colocation::may_be_tied(int i) const {
  if (op(i).has_ref_inputs || op(i).elements != OpClass::Elements::kUnknown) return true;
  return std::ranges::any_of(nodes_[i]->inputs(), [](const Output& in) {
    const DType type = in.dtype();
    return type == DType::kResource || type == DType::kVariant;
  });
}

Colocation::Flaw Colocation::make_member(int i) {
  Member& m = members_[i];
  m.parent = i;
  m.types = own_types(i);
  if (const int device = placed_before(i); device >= 0) {
    if (!context_.types.contains(m.types, context_.device_types[device])) return Flaw::kAssigned;
    m.requested = m.assigned = context_.device_specs[device];
    return Flaw::kNone;
  }
  if (m.types == TypeTable::kNone) return Flaw::kKernels;
  if (nodes_[i]->device().empty()) return Flaw::kNone;
  const int asked = own_request(i);
  if (asked == SpecTable::kBad) return Flaw::kSpelling;
  m.requested = asked;
  if (makes_resource(*nodes_[i])) m.resource = asked;
  return Flaw::kNone;
}

void Colocation::report_flaw(int i, Flaw flaw) const {
  const Node& node = *nodes_[i];
  switch (flaw) {
    case Flaw::kNone:
      return;
    case Flaw::kAssigned:
      throw attached(node, Code::kInternal,
                     fmt::format("Assigned device '{}' does not have registered OpKernel support "
                                 "for {}",
                                 context_.devices[placed_before(i)].name, node.type()));
    case Flaw::kKernels:
      throw no_kernel(context_, node);
    case Flaw::kSpelling:
      throw attached(node, Code::kInvalidArgument,
                     fmt::format("Malformed device specification '{}' in node: {}", node.device(),
                                 node.definition()));
  }
}

int Colocation::own_types(int i) const {
  const OpClass& c = op(i);
  if (c.types != TypeTable::kNone || c.other_attrs) return c.types;
  // Another process may have kernels that this one does not know.
  const int asked = own_request(i);
  if (asked == SpecTable::kBad || !context_.is_remote(asked)) return TypeTable::kNone;
  const auto& type = context_.specs[asked].type;
  return type ? context_.types.single(*type) : context_.types.all();
}

int Colocation::own_request(int i) const {
  return i < size() ? context_.specs.parse(nodes_[i]->device()) : SpecTable::kAny;
}

void Colocation::add_ports(int i) {
  const Node& node = *nodes_[i];
  Call call{i, {}, {}};
  const auto port = [&](DType type) {
    if (type != DType::kResource) return -1;
    Member m;
    m.parent = static_cast<int>(members_.size());
    m.types = context_.types.all();
    members_.push_back(m);
    port_owner_.push_back(i);
    return m.parent;
  };
  for (const Output& in : node.inputs()) call.in.push_back(port(in.dtype()));
  for (int k = 0; k < node.num_outputs(); ++k) call.out.push_back(port(node.output_type(k)));
  calls_.push_back(std::move(call));
}

std::vector<int> Colocation::ports() const {
  std::vector<int> all;
  for (int i = size(); i < static_cast<int>(members_.size()); ++i) all.push_back(i);
  return all;
}

int Colocation::endpoint(const Output& source) const {
  const int i = index_.of(source.node);
  if (i < 0 || !op(i).calls) return i;
  const auto call = std::ranges::lower_bound(calls_, i, {}, &Call::node);
  const bool looked_into = call != calls_.end() && call->node == i && call->out[source.index] >= 0;
  return looked_into ? call->out[source.index] : i;
}

// ---- The forest.

int Colocation::find(int i) const {
  while (members_[i].parent != i) {
    members_[i].parent = members_[members_[i].parent].parent;  // halves the path
    i = members_[i].parent;
  }
  return i;
}

std::optional<std::string> Colocation::unite(int a, int b) {
  const int x = find(a), y = find(b);
  if (x == y) return std::nullopt;
  const bool deeper = members_[x].rank < members_[y].rank;
  const int winner = deeper ? y : x, loser = deeper ? x : y;
  Member &w = members_[winner], &l = members_[loser];
  SpecTable& specs = context_.specs;
  const auto cannot = [&](const std::string& why) {
    return fmt::format("Cannot colocate nodes {} and {}{}", colocation_tag(node(a)),
                       colocation_tag(node(b)), why);
  };
  const int assigned = specs.merge(w.assigned, l.assigned, false);
  if (assigned == SpecTable::kBad) return cannot(": " + specs.conflict(w.assigned, l.assigned));
  const int resource = specs.merge(w.resource, l.resource, false);
  if (resource == SpecTable::kBad) return cannot(": " + specs.conflict(w.resource, l.resource));
  const int wish =
      specs.merge(w.requested, l.requested, context_.options.allow_soft_placement);
  if (wish == SpecTable::kBad) return cannot(": " + specs.conflict(w.requested, l.requested));
  const int types = context_.types.intersect(w.types, l.types);
  if (types == TypeTable::kNone) {
    return cannot(" because no device type supports both of those nodes and the other nodes "
                  "colocated with them." + debug_block(*this, x) + debug_block(*this, y));
  }
  w.assigned = assigned;
  w.resource = resource;
  w.requested = specs.imprint(specs.imprint(wish, assigned), resource);
  w.types = types;
  w.overridden |= l.overridden;
  w.rank += w.rank == l.rank;
  l.parent = winner;
  return std::nullopt;
}

std::vector<int> Colocation::members(int member) const {
  std::vector<int> group;
  const int root = find(member);
  for (int i = 0; i < size(); ++i) {
    if (find(i) == root) group.push_back(i);
  }
  return group;
}

// ---- Choosing.

const std::vector<int>& Colocation::candidates(int i) {
  Member& m = members_[find(i)];
  if (m.list) return *m.list;
  m.list = &context_.devices_for(m.requested, m.types);
  if (!m.list->empty() || m.requested == SpecTable::kAny) return *m.list;
  if (!context_.options.allow_soft_placement) return *m.list;

  // Other devices of the same task: first such that variables and handles stay where they are.
  m.softened = true;
  const DeviceName &assigned = context_.specs[m.assigned], &resource = context_.specs[m.resource];
  const bool typed = assigned.type.has_value(), numbered = assigned.id.has_value();
  const int gentle = context_.specs.without_device(m.requested, typed || resource.type,
                                                   numbered || resource.id);
  m.list = &context_.devices_for(gentle, m.types);
  if (!m.list->empty()) return *m.list;
  const int rough = context_.specs.without_device(m.requested, typed, numbered);
  m.list = &context_.devices_for(rough, m.types);
  if (!m.list->empty()) {
    context_.notes.push_back(
        fmt::format("Resources had to leave the device they were asked to be on: an operation that "
                    "uses {} cannot run there.{}",
                    node(i).name(), debug_block(*this, i)));
  }
  return *m.list;
}

void Colocation::fix(int i, int device) {
  Member& m = members_[find(i)];
  if (m.leader < 0) {
    m.leader = i;
    m.asked = m.requested;
  }
  if (m.device == device) return;
  m.device = device;
  m.requested = m.resource = m.assigned = context_.device_specs[device];
  m.list = nullptr;
}

}  // namespace emplace::placement
