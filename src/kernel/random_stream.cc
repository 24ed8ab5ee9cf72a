#include "kernel/random_stream.h"

#include <random>

namespace emplace {

Philox RandomStream::reserve(uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  if (const uint64_t now = epoch_->number; now != begun_) {
    next_ = first_;
    begun_ = now;
  }
  const Philox here = next_;
  next_.skip(blocks);
  return here;
}

std::shared_ptr<RandomEpoch> random_epoch_of(ResourceManager& resources) {
  return resources.find_or_create_as<RandomEpoch>("_random_epoch", "",
                                                  [] { return std::make_shared<RandomEpoch>(); });
}

bool draws(const OpDef& op) {
  return op.find_attr("seed2") && !op.name.starts_with("RandomShuffleQueue");
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
  const auto epoch =
      init.resources ? random_epoch_of(*init.resources) : std::make_shared<RandomEpoch>();
  auto make = [&]() -> std::shared_ptr<Resource> {
    const auto [seed, seed2] = seeds_of(init);
    return std::make_shared<RandomStream>(seed, seed2, epoch);
  };
  if (!init.resources) return std::static_pointer_cast<RandomStream>(make());
  return init.resources->find_or_create_as<RandomStream>("_random", name, make);
}

}  // namespace emplace
