// Values that wait in pinned host memory: device/host_swap.h.
#include "backends/cuda/gpu.h"

namespace emplace::cuda {

// The copies out and back go to the streams made for them; the event says when the latest is over.
class Gpu::Away final : public HostSwap::Parked {
 public:
  Away(std::shared_ptr<PinnedCache> cache, size_t size)
      : bytes(size), cache_(std::move(cache)), at_(cache_->take(size)) {}
  // The streams may still be at it.
  ~Away() override { cache_->give_back(at_, bytes, std::move(latest_)); }

  void* at() const { return at_; }
  void copy(void* to, const void* from, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
    check(cudaEventRecord(latest_->get(), stream), "recording an event");
  }
  void wait_for_latest(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, latest_->get(), 0), "waiting for an event");
  }

  const size_t bytes;
  std::mutex mutex;  // of whoever calls for it
  BufferPtr back;    // in device memory again

 private:
  const std::shared_ptr<PinnedCache> cache_;
  void* const at_;
  std::unique_ptr<CudaEvent> latest_ = std::make_unique<CudaEvent>();
};

std::shared_ptr<HostSwap::Parked> Gpu::park(const Tensor& t) {
  auto away = std::make_shared<Away>(pinned_, t.bytes());
  // From a copy the bytes go out while the stream goes on; without memory for one, it does it itself.
  if (const BufferPtr own = allocate_if_free(t.bytes())) {
    const cudaStream_t out = queues_[kComputeQueues + 1]->stream();
    away->copy(own->data(), t.raw(), stream());
    away->wait_for_latest(out);
    away->copy(away->at(), own->data(), out);
  } else {
    away->copy(away->at(), t.raw(), stream());
  }
  return away;
}

void Gpu::approach(Parked& p) {
  auto& away = static_cast<Away&>(p);
  const std::lock_guard lock(away.mutex);
  if (away.back || !(away.back = allocate_if_free(away.bytes))) return;
  const cudaStream_t in = queues_[kComputeQueues]->stream();
  away.wait_for_latest(in);
  away.copy(away.back->data(), away.at(), in);
}

void Gpu::fetch(Parked& p, void* to) {
  auto& away = static_cast<Away&>(p);
  const std::lock_guard lock(away.mutex);
  away.wait_for_latest(stream());
  away.copy(to, away.back ? away.back->data() : away.at(), stream());
}

}  // namespace emplace::cuda
