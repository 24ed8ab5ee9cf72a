#pragma once
#include <cstdint>

namespace emplace {

// A device whose memory can be limited while it is in use. Any thread may call.
class LimitedMemory {
 public:
  virtual ~LimitedMemory() = default;
  // From now on no more than so many bytes are taken there, in this process; 0: as many as at first. What is held
  // stays: if it is more, nothing is had until enough of it was freed.
  virtual void limit_memory(int64_t bytes) = 0;
};

}  // namespace emplace
