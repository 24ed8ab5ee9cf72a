#pragma once
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/limited_memory.h"

namespace emplace {

// Host memory and threads. `/cpu:0` is all cores; further CPU devices are names over the same
// pools, or sets of cores with threads of their own that are bound to them.
class CpuDevice final : public Device, public LimitedMemory {
 public:
  // Pools are shared with other devices and sessions.
  CpuDevice(DeviceName name, std::shared_ptr<ThreadPool> inter_op,
            std::shared_ptr<ThreadPool> intra_op);

  BufferPtr allocate(size_t bytes, std::string_view tag) override;
  MemoryStats memory_stats() const override { return {}; }
  // Of the whole process: host memory is one.
  void limit_memory(int64_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  ThreadPool& inter_op() override { return *inter_op_; }
  ThreadPool& intra_op() override { return *intra_op_; }
  bool owns(const void*) const override { return false; }

 private:
  std::shared_ptr<ThreadPool> inter_op_, intra_op_;
};

}  // namespace emplace
