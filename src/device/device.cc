#include "device/device.h"

#include <random>

namespace emplace {

Device::Device(DeviceName name, std::string description, int64_t memory_limit)
    : name_(name.to_string()),
      parsed_(std::move(name)),
      type_(parsed_.type.value_or("")),
      description_(std::move(description)),
      memory_limit_(memory_limit) {
  static std::atomic<uint64_t> salt{0};
  std::random_device random;
  incarnation_ = (uint64_t{random()} << 32 | random()) ^ salt.fetch_add(1);
}

}  // namespace emplace
