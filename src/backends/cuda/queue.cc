#include "backends/cuda/queue.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <cstring>

#include "backends/cuda/gpu.h"
#include "base/eventcount.h"

namespace emplace::cuda {
namespace {

thread_local Lane* calling = nullptr;
constexpr int kSpins = 20'000;  // queries of an event; then sleep
// A sleeping thread wakes late, above all under a hypervisor: between steps the listener stays up.
constexpr std::chrono::microseconds kStayUp{300};

}  // namespace

CudaEvent::CudaEvent() {
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
}
CudaEvent::~CudaEvent() { cudaEventDestroy(event_); }

Lane* Lane::current() { return calling; }

void* Lane::scratch(size_t bytes) {
  if (!workspace || workspace->bytes() < bytes) {
    if (workspace && !queue) outgrown.push_back(std::move(workspace));
    workspace = gpu->allocate(std::max<size_t>(bytes, size_t{1} << 20), "workspace");
  }
  return workspace->data();
}

CudaQueue::CudaQueue(Gpu& gpu, std::string name) : gpu_(gpu), name_(std::move(name)) {
  use_card(gpu_.card());
  lane_.gpu = &gpu;
  lane_.queue = this;
  check(cudaStreamCreateWithFlags(&lane_.stream, cudaStreamNonBlocking), "making a stream");
}

CudaQueue::~CudaQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (listener_.joinable()) listener_.join();
  cudaStreamSynchronize(lane_.stream);
  lane_.workspace = {};
  for (cudaEvent_t e : events_) cudaEventDestroy(e);
  cudaStreamDestroy(lane_.stream);
}

void CudaQueue::call_on(Lane& lane, Fn fn, void* arg, uint64_t n) {
  Lane* const outer = std::exchange(calling, &lane);
  fn(arg, n);
  calling = outer;
}

void CudaQueue::submit(Fn fn, void* arg, uint64_t n) {
  try_card(gpu_.card());
  const std::lock_guard lock(calls_);
  call_on(lane_, fn, arg, n);
}

void CudaQueue::record(Event& e, uint64_t) {
  try_card(gpu_.card());
  note(cudaEventRecord(static_cast<CudaEvent&>(e).get(), lane_.stream));
}

void CudaQueue::wait(Event& e, uint64_t) {
  try_card(gpu_.card());
  note(cudaStreamWaitEvent(lane_.stream, static_cast<CudaEvent&>(e).get(), 0));
}

std::unique_ptr<Event> CudaQueue::make_event() {
  use_card(gpu_.card());
  return std::make_unique<CudaEvent>();
}

void CudaQueue::drain() {
  use_card(gpu_.card());
  check(cudaStreamSynchronize(lane_.stream), "waiting for a stream");
}

void CudaQueue::note(cudaError_t result) {
  if (result == cudaSuccess) [[likely]] return;
  const std::lock_guard lock(fault_mutex_);
  if (fault_) return;
  fault_ = internal_error(fmt::format("{} failed: {} ({})", gpu_.name(), cudaGetErrorString(result),
                                      cudaGetErrorName(result)))
               .on_device(gpu_.name());
  gpu_.lose(*fault_);
}

std::optional<Error> CudaQueue::fault() const {
  const std::lock_guard lock(fault_mutex_);
  return fault_;
}

void CudaQueue::drop_scratch() {
  const std::lock_guard lock(calls_);
  lane_.workspace = {};
}

void* CudaQueue::staging(size_t bytes) { return gpu_.pinned().take(bytes); }

void CudaQueue::unstage(void* staging, size_t bytes, void* to) {
  staged_.push_back({staging, bytes, to});
}

cudaEvent_t CudaQueue::spare_event() {
  if (events_.empty()) {
    cudaEvent_t e = nullptr;
    note(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync));
    return e;
  }
  const cudaEvent_t e = events_.back();
  events_.pop_back();
  return e;
}

void CudaQueue::notify(Fn fn, void* arg, uint64_t n) {
  try_card(gpu_.card());
  {
    const std::lock_guard calls(calls_);
    const std::lock_guard lock(mutex_);
    const cudaEvent_t event = spare_event();
    if (event) note(cudaEventRecord(event, lane_.stream));
    notices_.push_back({event, fn, arg, n, std::move(staged_)});
    staged_.clear();
    waiting_.store(notices_.size(), std::memory_order_release);
    if (!listener_.joinable()) listener_ = std::thread([this] { listen(); });
  }
  changed_.notify_one();
}

void CudaQueue::listen() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  try_card(gpu_.card());
  for (;;) {
    const auto until = std::chrono::steady_clock::now() + kStayUp;
    while (!waiting_.load(std::memory_order_acquire) && !stopping_ &&
           std::chrono::steady_clock::now() < until)
      spin_pause();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !notices_.empty(); });
    if (notices_.empty()) return;
    Notice notice = std::move(notices_.front());
    notices_.pop_front();
    waiting_.store(notices_.size(), std::memory_order_release);
    lock.unlock();
    carry_out(notice);
    lock.lock();
    if (notice.event) events_.push_back(notice.event);
  }
}

void CudaQueue::carry_out(Notice& notice) {
  cudaError_t result = notice.event ? cudaErrorNotReady : cudaErrorUnknown;
  for (int i = 0; i < kSpins && result == cudaErrorNotReady; ++i)
    result = cudaEventQuery(notice.event);
  if (result == cudaErrorNotReady) result = cudaEventSynchronize(notice.event);
  note(result);
  for (const Staged& s : notice.staged) {
    if (s.to && result == cudaSuccess) std::memcpy(s.to, s.from, s.bytes);
    gpu_.pinned().give_back(s.from, s.bytes);
  }
  notice.fn(notice.arg, notice.n);
}

}  // namespace emplace::cuda
