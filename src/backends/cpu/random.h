#pragma once
#include <mutex>

#include "backends/cpu/philox.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// A node's place in its stream. It belongs to the session, so that every plan with the node goes on
// where the last run stopped. Thread-safe.
class Stream : public Resource {
 public:
  Stream(uint64_t seed, uint64_t seed2) : next_(seed, seed2) {}
  // The generator for the next `blocks`; the stream moves on behind them.
  Philox reserve(uint64_t blocks);
  std::string debug_string() const override { return "random stream"; }

 private:
  std::mutex mutex_;
  Philox next_;
};

// The stream of a node with attributes seed and seed2; both 0: another one each time.
std::shared_ptr<Stream> stream_of(const KernelInit& init);

// The generator of two seeds, and of key, counter and algorithm at three inputs from `first` on.
Philox philox_from_seed(const Tensor& seed);
Philox philox_from_key(KernelContext& c, int first);

}  // namespace emplace::cpu
