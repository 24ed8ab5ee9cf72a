// What devices have in common that run everything equally fast.
#include <fmt/format.h>

#include <fstream>

#include "session/cost_sampler.h"

namespace emplace {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "CPU";
}

// "device: 0, name: NVIDIA H200, pci bus id: …"
std::string name_in(const std::string& description) {
  constexpr std::string_view kName = "name: ";
  const size_t at = description.find(kName);
  if (at == std::string::npos) return {};
  const size_t from = at + kName.size();
  return description.substr(from, description.find(',', from) - from);
}

std::string kind_of(Device& device) {
  static const std::string model = cpu_model();
  const std::string name = name_in(device.description());
  if (!name.empty() && !name.starts_with("Virtual")) return name;
  return fmt::format("{} x{} {}", name.empty() ? device.type() : name, device.intra_op().size() + 1,
                     model);
}

}  // namespace

DeviceKinds device_kinds(const std::vector<std::shared_ptr<Device>>& devices) {
  DeviceKinds kinds;
  for (const auto& device : devices) kinds.emplace(device->name(), kind_of(*device));
  return kinds;
}

}  // namespace emplace
