#include "placement/context.h"

#include <algorithm>

namespace emplace::placement {
namespace {

// The task in which kernels are known: the default device's, else that of the first local device.
DeviceName local_task(std::span<const DeviceInfo> devices, std::string_view default_device) {
  const auto home = [&](const DeviceInfo& d) {
    return default_device.empty() ? d.local : d.name == default_device;
  };
  const auto found = std::ranges::find_if(devices, home);
  if (found == devices.end() || !found->parsed.has_full_task()) return {};
  return DeviceName::of_task(*found->parsed.job, *found->parsed.replica, *found->parsed.task);
}

}  // namespace

Context::Context(std::span<const DeviceInfo> given, const KernelOracle& kernel_oracle,
                 const PlacementOptions& placement_options)
    : devices(given.begin(), given.end()),
      oracle(kernel_oracle),
      options(placement_options),
      types(given),
      ops(*this),
      functions(*this),
      here_(local_task(given, placement_options.default_local_device)) {
  for (const DeviceInfo& d : devices) {
    device_specs.push_back(specs.intern(d.parsed));
    device_types.push_back(types.type(d.type));
  }
}

bool Context::is_remote(int spec) const {
  const DeviceName& name = specs[spec];
  return name.has_full_task() && here_.has_full_task() && !name.same_address_space(here_);
}

bool Context::any_device_matches(int spec) {
  return std::ranges::any_of(
      devices, [&](const DeviceInfo& d) { return specs[spec].is_specification_of(d.parsed); });
}

const std::vector<int>& Context::devices_for(int spec, int types_set) {
  const uint64_t key = uint64_t(spec) << 32 | uint64_t(types_set);
  if (auto found = lists_.find(key); found != lists_.end()) return found->second;
  return lists_[key] = pick(spec, types_set);
}

std::vector<int> Context::pick(int spec, int types_set) const {
  std::vector<int> found;
  std::vector<int> priority(devices.size(), 0);  // of the kernel, per device
  for (const RankedType& t : types[types_set]) {
    for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
      const bool matches = specs[spec].is_specification_of(devices[d].parsed);
      if (device_types[d] != t.type || !matches) continue;
      priority[d] = t.priority;
      found.push_back(d);
    }
  }
  std::ranges::sort(found, [&](int a, int b) { return before(a, b, priority); });
  return found;
}

bool Context::before(int a, int b, const std::vector<int>& kernel_priority) const {
  const DeviceInfo &x = devices[a], &y = devices[b];
  const bool x_default = x.name == options.default_local_device;
  const bool y_default = y.name == options.default_local_device;
  if (x_default != y_default) return x_default;
  if (kernel_priority[a] != kernel_priority[b]) return kernel_priority[a] > kernel_priority[b];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.local != y.local) return x.local;
  return x.name < y.name;  // as text: GPU:10 before GPU:2, as TensorFlow does
}

std::string Context::device_names(bool sorted) const {
  std::vector<std::string_view> names;
  for (const DeviceInfo& d : devices) names.push_back(d.name);
  if (sorted) std::ranges::sort(names);
  std::string out;
  for (std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

}  // namespace emplace::placement
