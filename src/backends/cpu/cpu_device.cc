#include "backends/cpu/cpu_device.h"

#include <cstring>

#include "base/host_limit.h"

namespace emplace {
namespace {

constexpr int64_t kReportedLimit = 256 << 20;  // what TensorFlow reports for a CPU

}  // namespace

CpuDevice::CpuDevice(DeviceName name, std::shared_ptr<ThreadPool> inter_op,
                     std::shared_ptr<ThreadPool> intra_op)
    : Device(std::move(name), "", kReportedLimit),
      inter_op_(std::move(inter_op)),
      intra_op_(std::move(intra_op)) {}

BufferPtr CpuDevice::allocate(size_t bytes, std::string_view) {
  return Tensor(DType::kUint8, Shape{static_cast<int64_t>(bytes)}).buffer();
}

void CpuDevice::limit_memory(int64_t bytes) { limit_host_memory(static_cast<size_t>(bytes)); }

void CpuDevice::copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);  // an empty tensor may have no address
}

}  // namespace emplace
