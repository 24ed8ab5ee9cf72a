#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "kernel/kernel.h"
#include "kernel/philox.h"

namespace emplace {

// How often the streams that look at it have been told to begin anew. Thread-safe.
class RandomEpoch : public Resource {
 public:
  std::string debug_string() const override { return "random epoch"; }
  std::atomic<uint64_t> number{0};
};

// The one of these resources, made where there is none.
std::shared_ptr<RandomEpoch> random_epoch_of(ResourceManager& resources);

// A node's place in its stream of random numbers. It belongs to the session, so that every plan with
// the node goes on where the last run stopped, or to the function, each of which has its own.
// Thread-safe.
class RandomStream : public Resource {
 public:
  RandomStream(uint64_t seed, uint64_t seed2, std::shared_ptr<RandomEpoch> epoch)
      : first_(seed, seed2), next_(first_), epoch_(std::move(epoch)), begun_(epoch_->number) {}
  // The generator for the next `blocks`; the stream moves on behind them.
  Philox reserve(uint64_t blocks);
  std::string debug_string() const override { return "random stream"; }

 private:
  std::mutex mutex_;
  const Philox first_;
  Philox next_;
  const std::shared_ptr<RandomEpoch> epoch_;
  uint64_t begun_;
};

// A node's attributes seed and seed2; where both are 0, others each time.
std::pair<uint64_t, uint64_t> seeds_of(const KernelInit& init);
// Whether an op draws from a stream: it has seeds, and is no queue.
bool draws(const OpDef& op);
// The stream of a node with attributes seed and seed2; both 0: another one each time.
std::shared_ptr<RandomStream> random_stream_of(const KernelInit& init);

}  // namespace emplace
