#include "backends/virtual/virtual_gpu.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "device/spare_memory.h"

namespace emplace {
namespace {

// Device memory; the allocator lives as long as any of its buffers.
class ArenaBuffer final : public Buffer {
 public:
  ArenaBuffer(std::shared_ptr<BfcAllocator> allocator, void* data, size_t bytes, Device* device)
      : Buffer(data, bytes, device), allocator_(std::move(allocator)) {}
  ~ArenaBuffer() override { allocator_->deallocate(data_); }

 private:
  std::shared_ptr<BfcAllocator> allocator_;
};

int64_t limit_of(const VirtualGpuOptions& o) {
  if (!(o.memory_fraction >= 0 && o.memory_fraction <= 1))
    throw invalid_argument(fmt::format(
        "per_process_gpu_memory_fraction must be between 0 and 1, not {}", o.memory_fraction));
  return o.memory_fraction > 0
             ? static_cast<int64_t>(static_cast<double>(o.memory) * o.memory_fraction)
             : o.memory;
}

DeviceName gpu_name(DeviceName task, int id) {
  task.type = "GPU";
  task.id = id;
  return task;
}

std::string describe(int card) {
  return fmt::format("device: {}, name: Virtual GPU, pci bus id: 0000:{:02x}:00.0", card, card + 1);
}

}  // namespace

bool VirtualGpuOptions::recording_from_environment() {
  const char* text = std::getenv("EMPLACE_VIRTUAL_RECORDING");
  return !text || std::string_view(text) != "0";
}

std::shared_ptr<VirtualGpu> VirtualGpu::get(int id, int card, const VirtualGpuOptions& options) {
  static std::mutex mutex;
  static auto* const alive = new std::map<std::pair<std::string, int>, std::weak_ptr<VirtualGpu>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<VirtualGpu>& slot = (*alive)[{gpu_name(options.task, id).to_string(), card}];
  if (auto gpu = slot.lock()) return gpu;
  auto gpu = std::make_shared<VirtualGpu>(id, card, options);
  slot = gpu;
  return gpu;
}

VirtualGpu::VirtualGpu(int id, int card, const VirtualGpuOptions& o)
    : Device(gpu_name(o.task, id), describe(card), limit_of(o)),
      intra_op_threads_(o.intra_op_threads),
      records_(o.records),
      inter_op_(o.inter_op) {
  BfcAllocator::Options a;
  a.name = fmt::format("GPU_{}_bfc", id);
  a.device = name();
  a.limit = static_cast<size_t>(memory_limit());
  a.allow_growth = BfcAllocator::growth_from_environment(o.allow_growth);
  a.collect_garbage = BfcAllocator::garbage_collection_from_environment();
  allocator_ = std::make_shared<BfcAllocator>(std::make_unique<HostSubAllocator>(), a);
  for (int q = 0; q < kComputeQueues + 2; ++q)
    queues_.push_back(std::make_unique<VirtualQueue>(fmt::format("gpu{}-{}", id, q)));
}

VirtualGpu::~VirtualGpu() = default;

BufferPtr VirtualGpu::allocate(size_t bytes, std::string_view tag) {
  // Nothing has an address all the same, since kernels hand it to memcpy.
  alignas(64) static char nothing[64];
  if (bytes == 0) return BufferPtr(new Buffer(nothing, 0, this));
  const auto attempt = [&] { return allocator_->try_allocate(bytes, tag); };
  void* data = attempt();
  if (!data && static_cast<int64_t>(bytes) <= memory_limit()) data = SpareMemory::find_room(attempt);
  if (!data) data = allocator_->allocate(bytes, tag);  // tells who holds what
  return BufferPtr(new ArenaBuffer(allocator_, data, bytes, this));
}

MemoryStats VirtualGpu::memory_stats() const { return allocator_->stats(); }
void VirtualGpu::trim() { allocator_->trim(); }
void VirtualGpu::limit_memory(int64_t bytes) {
  allocator_->set_limit(static_cast<size_t>(bytes));
}
void VirtualGpu::copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);  // an empty tensor may have no address
}
bool VirtualGpu::owns(const void* p) const { return allocator_->owns(p); }

ThreadPool& VirtualGpu::intra_op() {
  std::call_once(intra_op_made_, [&] {
    intra_op_ = std::make_unique<ThreadPool>(ThreadPool::Options{
        fmt::format("gpu{}-intra", parsed_name().id.value_or(0)), intra_op_threads_ - 1, {}});
  });
  return *intra_op_;
}

}  // namespace emplace
