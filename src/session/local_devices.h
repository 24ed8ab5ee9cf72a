#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "kernel/resources.h"

namespace emplace {

// The devices of a session or of eager, for kernels that bring values to one by its name.
class LocalDevices final : public Resource {
 public:
  using List = std::vector<std::shared_ptr<Device>>;
  explicit LocalDevices(std::shared_ptr<const List> list) : list_(std::move(list)) {}
  std::string debug_string() const override { return "devices"; }
  // The one that the name means; InvalidArgument where there is none. Lives as long as this does.
  std::shared_ptr<Device> named(std::string_view name) const;

  static void add_to(ResourceManager& resources, std::shared_ptr<const List> list);
  // Of the session whose resources these are; FailedPrecondition where nobody said.
  static std::shared_ptr<LocalDevices> of(ResourceManager& resources);

 private:
  const std::shared_ptr<const List> list_;
};

// The tensor in that device's memory (null, or a device that computes in host memory: there);
// itself where it is that already, or no plain numbers.
Tensor in_memory_of(const Tensor& t, Device* device);

}  // namespace emplace
