#pragma once
#include <memory>

#include "emplace/tensor.h"

namespace emplace {

// What a device is, besides, whose memory the host can't reach: values wait in host memory and come back,
// carried beside what the device computes. Called within a kernel's call; only enqueues, no thread waits.
class HostSwap {
 public:
  class Parked {
   public:
    virtual ~Parked() = default;
  };

  // Takes the tensor's bytes to the host. Its memory may be written over by what is enqueued later.
  virtual std::shared_ptr<Parked> park(const Tensor& t) = 0;
  // They will be wanted soon: begins to bring them into device memory, if there is some.
  virtual void approach(Parked& p) = 0;
  // Brings them to `to`, where what is enqueued later finds them.
  virtual void fetch(Parked& p, void* to) = 0;

 protected:
  ~HostSwap() = default;
};

}  // namespace emplace
