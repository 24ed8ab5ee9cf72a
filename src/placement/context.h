#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/function_groups.h"
#include "placement/op_class.h"
#include "placement/request.h"
#include "placement/spec_table.h"
#include "placement/type_table.h"

namespace emplace::placement {

// What one call of place() knows and remembers, shared by the graph and the functions it calls:
// the devices, and tables in which every question is answered once. Not thread-safe.
class Context {
 public:
  Context(std::span<const DeviceInfo> devices, const KernelOracle& oracle,
          const PlacementOptions& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Devices that match `spec` and are of a type in `types`, best first. The list stays valid.
  const std::vector<int>& devices_for(int spec, int types);
  bool any_device_matches(int spec);
  // Does the user speak of another process than this one?
  bool is_remote(int spec) const;
  std::string device_names(bool sorted) const;  // "a, b"

  const std::vector<DeviceInfo> devices;
  std::vector<int> device_specs, device_types;  // per device, in the tables below
  const KernelOracle& oracle;
  const PlacementOptions options;
  SpecTable specs;
  TypeTable types;
  OpClasses ops;
  FunctionGroups functions;
  std::vector<std::string> notes;

 private:
  std::vector<int> pick(int spec, int types) const;
  bool before(int a, int b, const std::vector<int>& kernel_priority) const;

  DeviceName here_;  // job, replica and task of this process, if known
  std::unordered_map<uint64_t, std::vector<int>> lists_;  // by (spec, types)
};

}  // namespace emplace::placement
