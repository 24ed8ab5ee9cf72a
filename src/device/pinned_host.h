#pragma once
#include "emplace/tensor.h"

namespace emplace {

// What a device is, besides, that copies faster from and to host memory made for it. Such memory is the
// host's in every other way, and may outlive the device.
class PinnedHost {
 public:
  virtual BufferPtr allocate_pinned(size_t bytes) = 0;

 protected:
  ~PinnedHost() = default;
};

}  // namespace emplace
