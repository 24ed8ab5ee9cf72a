#include "kernel/random_stream.h"

#include <random>

namespace emplace {

Philox RandomStream::reserve(uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const Philox here = next_;
  next_.skip(blocks);
  return here;
}

std::shared_ptr<RandomStream> random_stream_of(const KernelInit& init) {
  auto seed = static_cast<uint64_t>(init.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(init.attr<int64_t>("seed2"));
  const std::string name = std::string(init.node) + "/" + init.op->name + "/" +
                           std::to_string(seed) + "/" + std::to_string(seed2);
  auto make = [&]() -> std::shared_ptr<Resource> {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed = uint64_t{device()} << 32 | device();
      seed2 = uint64_t{device()} << 32 | device();
    }
    return std::make_shared<RandomStream>(seed, seed2);
  };
  if (!init.resources) return std::static_pointer_cast<RandomStream>(make());
  return init.resources->find_or_create_as<RandomStream>("_random", name, make);
}

}  // namespace emplace
