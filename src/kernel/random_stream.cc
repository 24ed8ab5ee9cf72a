#include "kernel/random_stream.h"

#include <random>

namespace emplace {

Philox RandomStream::reserve(uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const Philox here = next_;
  next_.skip(blocks);
  return here;
}

std::pair<uint64_t, uint64_t> seeds_of(const KernelInit& init) {
  const auto seed = static_cast<uint64_t>(init.attr<int64_t>("seed"));
  const auto seed2 = static_cast<uint64_t>(init.attr<int64_t>("seed2"));
  if (seed != 0 || seed2 != 0) return {seed, seed2};
  std::random_device device;
  const auto any = [&] { return uint64_t{device()} << 32 | device(); };
  return {any(), any()};
}

std::shared_ptr<RandomStream> random_stream_of(const KernelInit& init) {
  const std::string name = std::string(init.node) + "/" + init.op->name + "/" +
                           std::to_string(init.attr<int64_t>("seed")) + "/" +
                           std::to_string(init.attr<int64_t>("seed2"));
  auto make = [&]() -> std::shared_ptr<Resource> {
    const auto [seed, seed2] = seeds_of(init);
    return std::make_shared<RandomStream>(seed, seed2);
  };
  if (!init.resources) return std::static_pointer_cast<RandomStream>(make());
  return init.resources->find_or_create_as<RandomStream>("_random", name, make);
}

}  // namespace emplace
