#include "placement/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace emplace::placement {
namespace {

// The dtype a kernel is chosen by, in words: " for int32"; empty if the op has none.
std::string for_dtype(const Node& node) {
  for (std::string_view attr : {"T", "dtype", "DstT"}) {
    const AttrValue* value = node.attr(attr);
    if (value && value->is<DType>()) return fmt::format(" for {}", dtype_name(value->as<DType>()));
  }
  return {};
}

}  // namespace

Why::Why(const Result& result)
    : r_(result),
      groups_(result.groups),
      consumers_(result.nodes, result.groups.index()),
      key_(result.nodes.size()),
      begin_(result.nodes.size() + 2, 0),
      members_(result.nodes.size()) {
  const int n = groups_.size();
  std::unordered_map<int, int> port_roots;  // a root that is no node: its first node stands for it
  for (int i = 0; i < n; ++i) {
    const int root = groups_.find(i);
    key_[i] = root < n ? root : port_roots.try_emplace(root, i).first->second;
    ++begin_[key_[i] + 2];
  }
  for (size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  for (int i = 0; i < n; ++i) members_[begin_[key_[i] + 1]++] = i;
}

const std::vector<int>& Why::notable(int node) const {
  const auto [at, fresh] = notable_.try_emplace(key_[node]);
  if (fresh) at->second = pick_notable(node);
  return at->second;
}

std::vector<int> Why::pick_notable(int node) const {
  std::map<std::tuple<bool, int, int, bool>, int> seen;  // how many of each sort
  std::vector<int> picked;
  const int leader = groups_.root(node).leader;
  for (int at = begin_[key_[node]]; at < begin_[key_[node] + 1]; ++at) {
    const int i = members_[at];
    const auto sort = std::tuple(groups_.placed_before(i) >= 0, groups_.own_request(i),
                                 groups_.own_types(i), i == leader);
    if (++seen[sort] <= 2) picked.push_back(i);
  }
  return picked;
}

bool Why::meets(int spec, int device) const {
  return r_.context.specs[spec].is_specification_of(r_.context.devices[device].parsed);
}

bool Why::runs_on(int node, int type) const {
  return r_.context.types.contains(groups_.own_types(node), type);
}

PlacedNode Why::explain(int i) const {
  PlacedNode out{r_.nodes[i], r_.device[i], reason(i), {}, {}};
  out.detail = words(i, out.reason);
  for (int d = 0; d < static_cast<int>(r_.context.devices.size()); ++d) {
    if (d == out.device) continue;
    out.rejected.push_back({r_.context.devices[d].name, rejection(i, d, out.reason)});
  }
  return out;
}

// ---- Why here.

Reason Why::reason(int i) const {
  const Member& m = groups_.root(i);
  const Reason noted = r_.reason[i];
  if (noted == Reason::kAlreadyPlaced) return noted;
  const int asked = groups_.own_request(i);
  if (asked != SpecTable::kAny) {
    if (meets(asked, r_.device[i])) return Reason::kPinned;
    return m.overridden ? Reason::kColocated : Reason::kSoft;
  }
  if (m.leader != i || m.asked != SpecTable::kAny) return Reason::kColocated;
  if (noted != Reason::kDefault) return noted;
  // Alone, it would have gone elsewhere.
  const auto free = r_.context.types[groups_.own_types(i)].front().type;
  return free != r_.context.device_types[r_.device[i]] ? Reason::kColocated : Reason::kDefault;
}

std::string Why::words(int i, Reason reason) const {
  const Node& node = *r_.nodes[i];
  switch (reason) {
    case Reason::kAlreadyPlaced:
      return "already placed";
    case Reason::kPinned:
      return fmt::format("pinned by the user to '{}'", node.device());
    case Reason::kColocated:
      return colocated_words(i);
    case Reason::kFollowsConsumer:
      return follows_consumer(i);
    case Reason::kFollowsInput:
      return fmt::format("follows its input {} ({})", r_.nodes[r_.followed[i]]->name(),
                         groups_.op(i).metadata ? "metadata op" : "identity between alike nodes");
    case Reason::kDefault:
      return default_words(i);
    case Reason::kSoft:
      return "soft placement: " + soft_words(i);
    case Reason::kCost:  // others say it with figures
      break;
  }
  return {};
}

std::string Why::follows_consumer(int i) const {
  const std::string& consumer = r_.nodes[r_.followed[i]]->name();
  const size_t count = consumers_[i].size();
  if (count == 1) return "follows its only consumer " + consumer;
  return fmt::format("follows its {} consumers, {} among them", count, consumer);
}

std::string Why::default_words(int i) const {
  const auto types = r_.context.types[groups_.root(i).types];
  const DeviceInfo& device = r_.context.devices[r_.device[i]];
  if (device.name == r_.context.options.default_local_device) {
    return "default device of the function";
  }
  if (types.front().priority != 0) {
    return fmt::format("default device: the {} kernel has the highest priority", device.type);
  }
  if (types.size() > 1) return fmt::format("default device: best type {}", device.type);
  return fmt::format("default device: only {} has a kernel{}", device.type,
                     for_dtype(*r_.nodes[i]));
}

std::string Why::soft_words(int i) const {
  const Node& node = *r_.nodes[i];
  const int asked = groups_.own_request(i);
  const auto& devices = r_.context.devices;
  std::vector<int> meant;
  for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
    if (meets(asked, d)) meant.push_back(d);
  }
  if (meant.empty()) return fmt::format("there is no '{}'", node.device());
  const int type = r_.context.device_types[meant.front()];
  if (!runs_on(i, type)) return no_kernel(i, type);
  for (int other : notable(i)) {
    if (!runs_on(other, type)) {
      return fmt::format("colocated with {}, {}", r_.nodes[other]->name(), no_kernel(other, type));
    }
  }
  const int other = companion(i);
  if (other < 0) return fmt::format("'{}' cannot take it", node.device());
  return fmt::format("colocated with {}, which asks for '{}'", r_.nodes[other]->name(),
                     r_.nodes[other]->device());
}

std::string Why::colocated_words(int i) const {
  const int other = companion(i);
  if (other < 0) return "its resource passes through a function that needs this device";
  const Node& node = *r_.nodes[i];
  std::string out = "colocated with " + r_.nodes[other]->name();
  if (!node.device().empty()) {
    return out + fmt::format("; the request for '{}' is ignored", node.device());
  }
  if (groups_.placed_before(other) >= 0) return out + ", which was placed before";
  if (!r_.nodes[other]->device().empty() && meets(groups_.own_request(other), r_.device[i])) {
    out += fmt::format(", which is pinned to '{}'", r_.nodes[other]->device());
  }
  return out;
}

// The member that explains the group's device best: one placed before, then one that asked for it
// (variables before others), then one with fewer kernels, then the first placed.
int Why::companion(int i) const {
  const int device = r_.device[i];
  const auto score = [&](int other) {
    const int asked = groups_.own_request(other);
    if (groups_.placed_before(other) >= 0) return 4;
    if (asked != SpecTable::kAny) return meets(asked, device) ? 3 : 0;
    if (r_.context.types[groups_.own_types(other)].size() <
        r_.context.types[groups_.own_types(i)].size()) {
      return 2;
    }
    return other == groups_.root(i).leader ? 1 : 0;
  };
  int best = -1;
  for (int other : notable(i)) {
    if (other != i && (best < 0 || score(other) > score(best))) best = other;
  }
  return best;
}

std::string Why::no_kernel(int node, int type) const {
  return fmt::format("no {} kernel{}", r_.context.types.name(type), for_dtype(*r_.nodes[node]));
}

// ---- Why not there.

std::string Why::rejection(int i, int device, Reason reason) const {
  const int type = r_.context.device_types[device];
  const Node& node = *r_.nodes[i];
  if (reason == Reason::kAlreadyPlaced) return "already placed";
  if (reason == Reason::kPinned && !meets(groups_.own_request(i), device)) {
    return fmt::format("not '{}'", node.device());
  }
  if (!runs_on(i, type)) return no_kernel(i, type);
  for (int other : notable(i)) {
    if (!runs_on(other, type)) {
      return fmt::format("colocated with {}: {}", r_.nodes[other]->name(), no_kernel(other, type));
    }
  }
  const Member& m = groups_.root(i);
  // Soft placement takes another device, not another task.
  DeviceName asked = r_.context.specs[m.asked];
  if (m.softened) asked.type.reset(), asked.id.reset();
  if (!asked.is_specification_of(r_.context.devices[device].parsed)) {
    return fmt::format("its group asks for '{}'", asked.to_string());
  }
  if (reason == Reason::kColocated && m.leader != i) {
    return "colocated with " + r_.nodes[m.leader]->name();
  }
  if (r_.followed[i] >= 0) return "away from " + r_.nodes[r_.followed[i]]->name();
  return beaten(i, device);
}

int Why::kernel_priority(int node, int type) const {
  for (const RankedType& t : r_.context.types[groups_.root(node).types]) {
    if (t.type == type) return t.priority;
  }
  return 0;
}

std::string Why::beaten(int i, int device) const {
  const DeviceInfo& chosen = r_.context.devices[r_.device[i]];
  const DeviceInfo& other = r_.context.devices[device];
  if (kernel_priority(i, r_.context.device_types[r_.device[i]]) !=
      kernel_priority(i, r_.context.device_types[device])) {
    return fmt::format("the {} kernel has a higher priority", chosen.type);
  }
  if (chosen.type != other.type) return fmt::format("{} comes before {}", chosen.type, other.type);
  if (chosen.local != other.local) return "in another process";
  return fmt::format("comes after {}", chosen.parsed.local_name());
}

}  // namespace emplace::placement
