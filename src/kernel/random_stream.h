#pragma once
#include <memory>
#include <mutex>
#include <utility>

#include "kernel/kernel.h"
#include "kernel/philox.h"

namespace emplace {

// A node's place in its stream of random numbers. It belongs to the session, so that every plan with
// the node goes on where the last run stopped. Thread-safe.
class RandomStream : public Resource {
 public:
  RandomStream(uint64_t seed, uint64_t seed2) : next_(seed, seed2) {}
  // The generator for the next `blocks`; the stream moves on behind them.
  Philox reserve(uint64_t blocks);
  std::string debug_string() const override { return "random stream"; }

 private:
  std::mutex mutex_;
  Philox next_;
};

// A node's attributes seed and seed2; where both are 0, others each time.
std::pair<uint64_t, uint64_t> seeds_of(const KernelInit& init);
// The stream of a node with attributes seed and seed2; both 0: another one each time.
std::shared_ptr<RandomStream> random_stream_of(const KernelInit& init);

}  // namespace emplace
