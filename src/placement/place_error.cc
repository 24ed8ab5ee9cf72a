#include "placement/place_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "placement/colocation.h"
#include "placement/context.h"

namespace emplace::placement {
namespace {

std::string input_types(const Node& node) {
  std::string out;
  for (const Output& in : node.inputs()) {
    if (!out.empty()) out += ", ";
    out += dtype_proto_name(in.dtype());
    if (in.is_ref()) out += "_ref";
  }
  return out;
}

std::string could_not_satisfy(const Node& node) {
  return fmt::format("Could not satisfy explicit device specification '{}", node.device());
}

Error seed_error(const Node& node, const std::string& message) {
  return attached_definition(node, Code::kInvalidArgument,
                             fmt::format("Cannot assign a device to node '{}': {}", node.name(),
                                         message));
}

Error cannot_assign(const Node& node, const std::string& message) {
  return attached(node, Code::kInvalidArgument,
                  fmt::format("Cannot assign a device for operation {}: {}", node.name(), message));
}

// The device is there, the kernel is not.
Error missing_kernel(Colocation& groups, int i) {
  const Node& node = groups.node(i);
  const Context& context = groups.context();
  const DeviceName& asked = context.specs[groups.own_request(i)];
  if (!asked.type) return cannot_assign(node, could_not_satisfy(node) + debug_block(groups, i));
  std::string message = fmt::format("{}' because no supported kernel for {} devices is available.",
                                    could_not_satisfy(node), *asked.type);
  if (groups.group_size(i) > 1) message += debug_block(groups, i);
  std::string kernels = context.oracle.kernel_list(node);
  while (kernels.ends_with('\n')) kernels.pop_back();
  return seed_error(node, message + "\nRegistered kernels:\n" + kernels);
}

std::string member_text(const Context& context, const Member& m) {
  const auto text = [&](int spec) { return context.specs[spec].to_string(); };
  std::string possible;
  for (int d : m.list ? *m.list : std::vector<int>()) {
    if (!possible.empty()) possible += ", ";
    possible += context.devices[d].name;
  }
  return fmt::format(
      "Member(assigned_device_name_index_={} requested_device_name_='{}' "
      "assigned_device_name_='{}' resource_device_name_='{}' supported_device_types_=[{}] "
      "possible_devices_=[{}]",
      m.device, text(m.requested), text(m.assigned), text(m.resource),
      context.types.list(m.types, ", "), possible);
}

}  // namespace

Error about(const Node& node, Code code, std::string message) {
  Error error(code, std::move(message));
  error.at_node(node.name(), node.type()).from_source(node.source());
  if (!node.device().empty()) error.on_device(node.device());
  return error;
}

std::string node_tag(const Node& node) { return "{{node " + node.name() + "}}"; }

std::string colocation_tag(const Node& node) { return "{{colocation_node " + node.name() + "}}"; }

std::string attr_text(const Node& node) {
  std::string out;
  for (const auto& [name, value] : node.attrs()) {
    if (!out.empty()) out += ", ";
    out += name + "=" + value.str();
  }
  return out;
}

Error attached(const Node& node, Code code, std::string message) {
  const bool tagged = message.find("{{node ") != std::string::npos;
  message += "\n\t [[" + (tagged ? node.name() : node_tag(node)) + "]]";
  return about(node, code, std::move(message));
}

Error attached_definition(const Node& node, Code code, std::string message) {
  return about(node, code, std::move(message) + "\n\t [[Node: " + node.definition() + "]]");
}

Error no_kernel(Context& context, const Node& node) {
  std::set<std::string> types;
  for (const DeviceInfo& d : context.devices) types.insert(d.type);
  return attached(node, Code::kInvalidArgument,
                  fmt::format("No OpKernel was registered to support Op '{}' used by {} with these "
                              "attrs: [{}]\nRegistered devices: [{}]\nRegistered kernels:\n{}",
                              node.type(), node_tag(node), attr_text(node), fmt::join(types, ", "),
                              context.oracle.kernel_list(node)));
}

Error no_device(Colocation& groups, int i) {
  Context& context = groups.context();
  const Node& node = groups.node(i);
  const int required = groups.root(i).requested;
  if (required == SpecTable::kAny) {
    return cannot_assign(
        node, fmt::format("Node had no OpKernel registered to support this operation: Operation "
                          "was {} and inputs were [{}].\n{}",
                          node.type(), input_types(node), debug_block(groups, i)));
  }
  if (groups.own_request(i) != required) {
    return cannot_assign(
        node, fmt::format("{}' because the node {} was colocated with a group of nodes that "
                          "required incompatible device '{}'. All available devices [{}]. {}",
                          could_not_satisfy(node), colocation_tag(node),
                          context.specs[required].to_string(), context.device_names(false),
                          debug_block(groups, i)));
  }
  if (!context.any_device_matches(required)) return seed_error(node, could_not_satisfy(node) + "'");
  return missing_kernel(groups, i);
}

std::string debug_block(const Colocation& groups, int member) {
  const Context& context = groups.context();
  const Member& root = groups.root(member);
  std::vector<std::pair<std::string, int>> ops;  // op, its types
  std::string members;
  for (int i : groups.members(member)) {
    const Node& node = groups.node(i);
    const auto same = [&](const auto& op) { return op.first == node.type(); };
    const auto found = std::ranges::find_if(ops, same);
    if (found == ops.end()) ops.emplace_back(node.type(), groups.own_types(i));
    members += fmt::format("\n  {} ({}) {}", node.name(), node.type(), node.device());
    if (const int d = groups.placed_before(i); d >= 0) {
      members += " framework assigned device=" + context.devices[d].name;
    }
  }
  std::string out =
      "\nColocation Debug Info:\nColocation group had the following types and supported devices: "
      "\nRoot " + member_text(context, root);
  for (const auto& [op, types] : ops) {
    out += fmt::format("\n{}: {} ", op, context.types.list(types, " "));
  }
  return out + "\n\nColocation members, user-requested devices, and framework assigned devices, "
               "if any:" + members + "\n";
}

}  // namespace emplace::placement
