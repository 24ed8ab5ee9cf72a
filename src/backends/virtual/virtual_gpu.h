#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "backends/virtual/virtual_queue.h"
#include "device/bfc_allocator.h"
#include "device/device.h"
#include "device/limited_memory.h"

namespace emplace {

struct VirtualGpuOptions {
  DeviceName task = DeviceName::of_task("localhost", 0, 0);  // whose it is
  int64_t memory = int64_t{1} << 30;
  double memory_fraction = 0;  // of `memory`; 0: all of it
  bool allow_growth = false;
  int intra_op_threads = 1;
  bool records = recording_from_environment();

  static bool recording_from_environment();  // unless EMPLACE_VIRTUAL_RECORDING is 0
  std::shared_ptr<ThreadPool> inter_op;  // host work of the device
};

// Host memory behind a GPU's face: an arena of its own with a limit, several compute queues and a
// copy queue each way, all of them asynchronous. Records and replays as a card does. Has no kernels
// of its own.
class VirtualGpu final : public Device, public LimitedMemory {
 public:
  static constexpr int kComputeQueues = 4;

  // The device called GPU:`id` of options.task over card number `card` of this process: the one that
  // is alive, with its options, else a new one.
  static std::shared_ptr<VirtualGpu> get(int id, int card, const VirtualGpuOptions& options);

  VirtualGpu(int id, int card, const VirtualGpuOptions& options);
  ~VirtualGpu() override;

  BufferPtr allocate(size_t bytes, std::string_view tag) override;
  MemoryStats memory_stats() const override;
  void trim() override;
  void limit_memory(int64_t bytes) override;
  int num_queues() const override { return kComputeQueues; }
  bool can_record() const override { return records_; }
  Queue& queue(int i) override { return *queues_[i]; }
  Queue& copy_in_queue() override { return *queues_[kComputeQueues]; }
  Queue& copy_out_queue() override { return *queues_[kComputeQueues + 1]; }
  void copy(void* to, const void* from, size_t bytes) override;
  ThreadPool& inter_op() override { return *inter_op_; }
  ThreadPool& intra_op() override;
  bool owns(const void* p) const override;

 private:
  const int intra_op_threads_;
  const bool records_;
  std::shared_ptr<ThreadPool> inter_op_;
  std::once_flag intra_op_made_;
  std::unique_ptr<ThreadPool> intra_op_;
  std::shared_ptr<BfcAllocator> allocator_;  // buffers that outlive the device keep it
  std::vector<std::unique_ptr<VirtualQueue>> queues_;
};

}  // namespace emplace
