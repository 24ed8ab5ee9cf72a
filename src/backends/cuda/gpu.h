#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/backend.h"
#include "backends/cuda/jit.h"
#include "backends/cuda/pinned.h"
#include "backends/cuda/queue.h"
#include "device/bfc_allocator.h"
#include "device/device.h"
#include "device/limited_memory.h"
#include "device/element_work.h"
#include "device/host_swap.h"
#include "device/pinned_host.h"

namespace emplace::cuda {

// A card, or a logical part of one with a memory limit of its own. Kernels launch on the stream of
// the queue that calls them; memory given back waits until every stream has passed that point.
class Gpu final : public Device,
                  public LimitedMemory,
                  public PinnedHost,
                  public ElementWork,
                  public HostSwap {
 public:
  static constexpr int kComputeQueues = 4;

  // The device called GPU:`id` of this process: the one that is alive, else a new one.
  static std::shared_ptr<Gpu> get(int id, const GpuSpec& spec);
  Gpu(int id, const GpuSpec& spec);
  ~Gpu() override;

  int card() const { return card_; }
  int sms() const { return sms_; }
  // Can a recorded kernel start before the one it follows has ended? (EMPLACE_EARLY_START=0: no.)
  bool starts_early() const { return starts_early_; }
  Jit& jit() { return jit_; }
  PinnedCache& pinned() { return *pinned_; }
  // Of the call that this thread makes; outside a call the first queue's.
  cudaStream_t stream();
  void* workspace(size_t bytes);
  cublasLtHandle_t blas();
  // What the kernels of all nodes share (chosen algorithms), by a name.
  std::shared_ptr<void> shared(const std::string& name,
                               const std::function<std::shared_ptr<void>()>& make);
  // cuDNN's handle, one for all streams: whoever uses it holds the mutex.
  void* dnn();
  std::mutex& dnn_mutex() { return dnn_mutex_; }

  // From now on every allocation fails with this; the first reason stays.
  void lose(const Error& why);
  std::optional<Error> lost() const;

  BufferPtr allocate(size_t bytes, std::string_view tag) override;
  BufferPtr allocate_pinned(size_t bytes) override;
  MemoryStats memory_stats() const override;
  void trim() override;
  void limit_memory(int64_t bytes) override;
  int num_queues() const override { return kComputeQueues; }
  bool can_record() const override { return true; }
  Queue& queue(int i) override { return *queues_[i]; }
  Queue& copy_in_queue() override { return *queues_[kComputeQueues]; }
  Queue& copy_out_queue() override { return *queues_[kComputeQueues + 1]; }
  void copy(void* to, const void* from, size_t bytes) override;
  void zero(void* to, size_t bytes) override;
  void add(DType dtype, void* to, const void* from, int64_t n) override;
  std::shared_ptr<Parked> park(const Tensor& t) override;
  void approach(Parked& p) override;
  void fetch(Parked& p, void* to) override;
  void call(Queue::Fn fn, void* arg, uint64_t n) override { queues_[0]->submit(fn, arg, n); }
  ThreadPool& inter_op() override { return *inter_op_; }
  ThreadPool& intra_op() override { return *intra_op_; }
  bool owns(const void* p) const override { return allocator_->owns(p); }

 private:
  class ArenaBuffer;
  class Away;
  class Returns;
  BufferPtr allocate_if_free(size_t bytes);  // null: there is none now
  void copy_now(void* to, const void* from, size_t bytes);
  void copy_out(CudaQueue& queue, void* to, const void* from, size_t bytes);

  const int card_;
  int sms_ = 0;
  bool starts_early_ = false;
  std::shared_ptr<ThreadPool> inter_op_, intra_op_;
  void* (*const find_room_)(FunctionRef<void*()> attempt);
  std::shared_ptr<PinnedCache> pinned_ = std::make_shared<PinnedCache>();
  Jit jit_;
  std::shared_ptr<BfcAllocator> allocator_;
  std::shared_ptr<Returns> returns_;
  std::vector<std::unique_ptr<CudaQueue>> queues_;
  std::once_flag blas_made_;
  cublasLtHandle_t blas_ = nullptr;
  std::mutex shared_mutex_;
  std::map<std::string, std::shared_ptr<void>> shared_;
  std::mutex dnn_mutex_;
  void* dnn_ = nullptr;
  std::atomic<bool> is_lost_{false};
  mutable std::mutex lost_mutex_;
  std::optional<Error> lost_;
};

// The card behind a kernel's device.
inline Gpu& gpu_of(Device& d) { return static_cast<Gpu&>(d); }

}  // namespace emplace::cuda
