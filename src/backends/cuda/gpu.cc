#include "backends/cuda/gpu.h"

#include <cudnn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "backends/cuda/card_memory.h"
#include "backends/cuda/pool_memory.h"

namespace emplace::cuda {
namespace {

DeviceName gpu_name(DeviceName task, int id) {
  task.type = "GPU";
  task.id = id;
  return task;
}

size_t rounded_down(size_t bytes) { return bytes / CardMemory::kPage * CardMemory::kPage; }

}  // namespace

// Memory given back by the host while streams may still use it: it goes to the allocator when every
// stream has passed the point at which it was given back.
class Gpu::Returns {
 public:
  Returns(int card, std::shared_ptr<BfcAllocator> allocator)
      : card_(card), allocator_(std::move(allocator)) {}
  ~Returns() {
    for (Batch& b : batches_) {
      for (cudaEvent_t e : b.events) cudaEventDestroy(e);
      for (void* p : b.memory) allocator_->deallocate(p);
    }
    for (void* p : fresh_) allocator_->deallocate(p);
    for (cudaEvent_t e : spare_) cudaEventDestroy(e);
  }

  void set_streams(std::vector<cudaStream_t> streams) {
    const std::lock_guard lock(mutex_);
    streams_ = std::move(streams);
  }
  // From now on nothing runs: memory goes back at once.
  void no_streams() {
    set_streams({});
    collect(true);
  }
  void put(void* p) {
    const std::lock_guard lock(mutex_);
    fresh_.push_back(p);
  }
  // Hands on what is surely out of use; `wait`: everything.
  void collect(bool wait) {
    const std::lock_guard lock(mutex_);
    if (fresh_.empty() && batches_.empty()) return;
    try_card(card_);
    if (!fresh_.empty()) mark();
    while (!batches_.empty() && passed(batches_.front(), wait)) {
      for (void* p : batches_.front().memory) allocator_->deallocate(p);
      spare_.insert(spare_.end(), batches_.front().events.begin(), batches_.front().events.end());
      batches_.erase(batches_.begin());
    }
  }

 private:
  struct Batch {
    std::vector<void*> memory;
    std::vector<cudaEvent_t> events;
  };
  void mark() {
    Batch b{std::exchange(fresh_, {}), {}};
    for (cudaStream_t s : streams_) {
      cudaEvent_t e = nullptr;
      if (spare_.empty()) {
        if (cudaEventCreateWithFlags(&e, cudaEventDisableTiming) != cudaSuccess) continue;  // lost
      } else {
        e = spare_.back();
        spare_.pop_back();
      }
      cudaEventRecord(e, s);
      b.events.push_back(e);
    }
    batches_.push_back(std::move(b));
  }
  static bool passed(const Batch& b, bool wait) {
    for (cudaEvent_t e : b.events)
      if ((wait ? cudaEventSynchronize(e) : cudaEventQuery(e)) == cudaErrorNotReady) return false;
    return true;
  }

  const int card_;
  std::shared_ptr<BfcAllocator> allocator_;
  std::mutex mutex_;
  std::vector<cudaStream_t> streams_;
  std::vector<void*> fresh_;
  std::vector<Batch> batches_;
  std::vector<cudaEvent_t> spare_;
};

class Gpu::ArenaBuffer final : public Buffer {
 public:
  ArenaBuffer(std::shared_ptr<Returns> returns, void* data, size_t bytes, Device* device)
      : Buffer(data, bytes, device), returns_(std::move(returns)) {}
  ~ArenaBuffer() override { returns_->put(data_); }

 private:
  std::shared_ptr<Returns> returns_;
};

std::shared_ptr<Gpu> Gpu::get(int id, const GpuSpec& spec) {
  static std::mutex mutex;
  static auto* const alive = new std::map<std::pair<std::string, int>, std::weak_ptr<Gpu>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<Gpu>& slot = (*alive)[{gpu_name(spec.task, id).to_string(), spec.card}];
  if (auto gpu = slot.lock()) {
    if (auto why = gpu->lost()) throw *why;
    return gpu;
  }
  auto gpu = std::make_shared<Gpu>(id, spec);
  slot = gpu;
  return gpu;
}

Gpu::Gpu(int id, const GpuSpec& spec)
    : Device(gpu_name(spec.task, id), spec.description,
             static_cast<int64_t>(rounded_down(spec.memory_limit))),
      card_(spec.card),
      inter_op_(spec.inter_op),
      intra_op_(spec.intra_op),
      find_room_(spec.find_room),
      jit_(spec.card) {
  use_card(card_);
  check(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, card_), "asking the card");
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card_), "asking the card");
  const char* const early = std::getenv("EMPLACE_EARLY_START");
  starts_early_ = major >= 9 && !(early && *early == '0');
  const bool pool = spec.use_cuda_malloc_async;
  BfcAllocator::Options a;
  a.name = fmt::format(fmt::runtime(pool ? "gpu_async_{}" : "GPU_{}_bfc"), id);
  a.device = name();
  a.limit = static_cast<size_t>(memory_limit());
  a.allow_growth = pool || BfcAllocator::growth_from_environment(spec.allow_growth);
  a.collect_garbage = BfcAllocator::garbage_collection_from_environment();
  std::unique_ptr<SubAllocator> memory;
  if (pool) memory = std::make_unique<PoolMemory>(card_, a.limit);
  else memory = std::make_unique<CardMemory>(card_, a.limit);
  allocator_ = std::make_shared<BfcAllocator>(std::move(memory), a);
  returns_ = std::make_shared<Returns>(card_, allocator_);
  std::vector<cudaStream_t> streams;
  for (int q = 0; q < kComputeQueues + 2; ++q) {
    queues_.push_back(std::make_unique<CudaQueue>(*this, fmt::format("gpu{}-{}", id, q)));
    streams.push_back(queues_.back()->stream());
  }
  returns_->set_streams(std::move(streams));
}

Gpu::~Gpu() {
  try_card(card_);
  cudaDeviceSynchronize();
  shared_.clear();
  for (auto& q : queues_) q.reset();
  returns_->no_streams();
  if (blas_) cublasLtDestroy(blas_);
  if (dnn_) cudnnDestroy(static_cast<cudnnHandle_t>(dnn_));
}

cudaStream_t Gpu::stream() {
  Lane* const lane = Lane::current();
  if (!lane || lane->gpu != this) return queues_[0]->stream();
  lane->kernel_last = false;
  return lane->stream;
}

void* Gpu::workspace(size_t bytes) {
  Lane* const lane = Lane::current();
  return (lane && lane->gpu == this ? *lane : queues_[0]->lane()).scratch(bytes);
}

cublasLtHandle_t Gpu::blas() {
  std::call_once(blas_made_, [&] {
    use_card(card_);
    check(cublasLtCreate(&blas_), "starting cuBLASLt");
  });
  return blas_;
}

std::shared_ptr<void> Gpu::shared(const std::string& name,
                                  const std::function<std::shared_ptr<void>()>& make) {
  const std::lock_guard lock(shared_mutex_);
  std::shared_ptr<void>& slot = shared_[name];
  if (!slot) slot = make();
  return slot;
}

void* Gpu::dnn() {
  if (!dnn_) {
    use_card(card_);
    cudnnHandle_t handle;
    if (const cudnnStatus_t result = cudnnCreate(&handle); result != CUDNN_STATUS_SUCCESS)
      throw internal_error(fmt::format("cuDNN does not start: {}", cudnnGetErrorString(result)));
    dnn_ = handle;
  }
  return dnn_;
}

void Gpu::lose(const Error& why) {
  const std::lock_guard lock(lost_mutex_);
  if (!lost_) lost_ = why;
  is_lost_.store(true, std::memory_order_release);
}

std::optional<Error> Gpu::lost() const {
  const std::lock_guard lock(lost_mutex_);
  return lost_;
}

BufferPtr Gpu::allocate(size_t bytes, std::string_view tag) {
  if (is_lost_.load(std::memory_order_acquire)) [[unlikely]] throw *lost();
  if (bytes == 0) return BufferPtr(new Buffer(nullptr, 0, this));
  returns_->collect(false);
  void* data = allocator_->try_allocate(bytes, tag);
  const auto attempt = [&] {
    returns_->collect(true);
    return allocator_->try_allocate(bytes, tag);
  };
  if (!data && static_cast<int64_t>(bytes) <= memory_limit()) data = find_room_(attempt);
  if (!data) data = allocator_->allocate(bytes, tag);  // tells who holds what
  return BufferPtr(new ArenaBuffer(returns_, data, bytes, this));
}

BufferPtr Gpu::allocate_if_free(size_t bytes) {
  returns_->collect(false);
  void* const data = allocator_->try_allocate(bytes, "swapping");
  return data ? BufferPtr(new ArenaBuffer(returns_, data, bytes, this)) : BufferPtr();
}

namespace {

class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(std::shared_ptr<PinnedCache> cache, size_t bytes)
      : Buffer(cache->take(bytes), bytes, nullptr), cache_(std::move(cache)) {}
  ~PinnedBuffer() override { cache_->give_back(data_, bytes_); }

 private:
  std::shared_ptr<PinnedCache> cache_;
};

}  // namespace

BufferPtr Gpu::allocate_pinned(size_t bytes) {
  use_card(card_);
  return BufferPtr(new PinnedBuffer(pinned_, bytes));
}

MemoryStats Gpu::memory_stats() const { return allocator_->stats(); }

void Gpu::trim() {
  for (auto& q : queues_) q->drop_scratch();  // a little of it would keep a whole region
  returns_->collect(true);
  allocator_->trim();
  pinned_->trim();
}

void Gpu::limit_memory(int64_t bytes) {
  allocator_->set_limit(static_cast<size_t>(bytes));
}

void Gpu::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  Lane* const lane = Lane::current();
  if (!lane || lane->gpu != this) return copy_now(to, from, bytes);
  if (!lane->queue || !owns(from) || owns(to))
    return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "copying");
  copy_out(*lane->queue, to, from, bytes);
}

// Outside a call, as eager does: the bytes are there when it returns.
void Gpu::copy_now(void* to, const void* from, size_t bytes) {
  use_card(card_);
  const cudaStream_t s = queues_[0]->stream();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s), "copying");
  check(cudaStreamSynchronize(s), "copying");
}

// Plain host memory can't be written by the card itself: without the detour the caller would wait.
void Gpu::copy_out(CudaQueue& queue, void* to, const void* from, size_t bytes) {
  cudaPointerAttributes a{};
  const bool another_card =
      cudaPointerGetAttributes(&a, to) == cudaSuccess && a.type != cudaMemoryTypeUnregistered;
  void* const at = another_card ? to : queue.staging(bytes);
  check(cudaMemcpyAsync(at, from, bytes, cudaMemcpyDefault, queue.stream()), "copying");
  if (!another_card) queue.unstage(at, bytes, to);
}

}  // namespace emplace::cuda
