#pragma once
#include "emplace/tensor.h"

namespace emplace {

// What a device is, besides, whose memory the host can't reach: it does itself what kernels of every
// device (lists, arrays) otherwise do in a loop. Called as `Device::copy` is: within a kernel's call, or
// outside any, when the work is only enqueued.
class ElementWork {
 public:
  virtual void zero(void* to, size_t bytes) = 0;
  // to += from; Unimplemented for dtypes that have no sum.
  virtual void add(DType dtype, void* to, const void* from, int64_t n) = 0;

 protected:
  ~ElementWork() = default;
};

}  // namespace emplace
