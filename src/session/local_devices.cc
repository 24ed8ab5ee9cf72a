#include "session/local_devices.h"

#include <fmt/format.h>

#include "session/eager_tasks.h"

namespace emplace {
namespace {

constexpr const char* kContainer = "_devices";

}  // namespace

std::shared_ptr<Device> LocalDevices::named(std::string_view name) const {
  const DeviceName wanted = DeviceName::parse(name);
  for (const auto& d : *list_)
    if (wanted.is_specification_of(d->parsed_name())) return d;
  throw invalid_argument(fmt::format("There is no device '{}' here", name));
}

void LocalDevices::add_to(ResourceManager& resources, std::shared_ptr<const List> list) {
  resources.find_or_create(kContainer, "",
                           [&] { return std::make_shared<LocalDevices>(std::move(list)); });
}

std::shared_ptr<LocalDevices> LocalDevices::of(ResourceManager& resources) {
  auto found = std::dynamic_pointer_cast<LocalDevices>(resources.find(kContainer, ""));
  if (!found) throw failed_precondition("No devices are known here");
  return found;
}

Tensor in_memory_of(const Tensor& t, Device* device) {
  if (t.device() && task_that_holds(t)) return in_memory_of(brought_here(t), device);
  if (!is_plain(t.dtype())) return t;
  Device* const here = t.device();
  Device* const there = device && device->is_async() ? device : nullptr;
  if (here == there) return t;
  Tensor copy = there ? Tensor(t.dtype(), t.shape(), there->allocate(t.bytes(), "copy"))
                      : Tensor(t.dtype(), t.shape());
  if (t.bytes() > 0) (there ? there : here)->copy(copy.raw(), t.raw(), t.bytes());
  return copy;
}

}  // namespace emplace
