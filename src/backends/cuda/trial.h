#pragma once
#include <functional>

#include "backends/cuda/api.h"

namespace emplace::cuda {

// Times work on a stream of its own, as part of a recording: so the time of something small is the
// card's, not that of launching, and what can't be recorded does not count.
class Trial {
 public:
  Trial();
  ~Trial();
  Trial(const Trial&) = delete;
  cudaStream_t stream() const { return stream_; }

  // Milliseconds of one `work`, the best of some rounds of `times`; infinite where it fails.
  float time(int times, const std::function<bool()>& work);
  // … of large work, by itself: the launch does not count beside it.
  float time_once(const std::function<bool()>& work);

 private:
  bool timed(const std::function<bool()>& work, float& ms);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace emplace::cuda
