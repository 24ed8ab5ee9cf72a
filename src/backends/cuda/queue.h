#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "backends/cuda/api.h"
#include "device/device.h"

namespace emplace::cuda {

class Gpu;

class CudaEvent final : public Event {
 public:
  CudaEvent();
  ~CudaEvent() override;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_;
};

// A stream. A call is made at once, on the caller's thread, under the queue's lock: what it launches
// goes to the stream in order. A thread of the queue's own waits for what the host wants to know.
class CudaQueue final : public Queue {
 public:
  CudaQueue(Gpu& gpu, std::string name);
  ~CudaQueue() override;

  void submit(Fn fn, void* arg, uint64_t n) override;
  void notify(Fn fn, void* arg, uint64_t n) override;
  void record(Event& e, uint64_t step) override;
  void wait(Event& e, uint64_t step) override;
  std::unique_ptr<Event> make_event() override;
  void drain() override;
  std::optional<Error> fault() const override;

  Gpu& gpu() const { return gpu_; }
  cudaStream_t stream() const { return stream_; }
  // Scratch memory of the queue, for the call being made: the next call on it may write over it.
  void* workspace(size_t bytes);
  // Pinned host memory, given back when the stream has passed this point and `to`, if any, has
  // got the bytes.
  void* staging(size_t bytes);
  void unstage(void* staging, size_t bytes, void* to);

  // The queue whose call this thread is making; null outside a call.
  static CudaQueue* current();

 private:
  struct Staged {
    void* from;
    size_t bytes;
    void* to;
  };
  struct Notice {
    cudaEvent_t event;
    Fn fn;
    void* arg;
    uint64_t n;
    std::vector<Staged> staged;
  };
  void listen();
  void carry_out(Notice& notice);
  cudaEvent_t spare_event();

  Gpu& gpu_;
  const std::string name_;
  cudaStream_t stream_ = nullptr;
  std::recursive_mutex calls_;  // one call at a time
  BufferPtr workspace_;
  std::vector<Staged> staged_;  // since the last notice; guarded by calls_

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Notice> notices_;
  std::vector<cudaEvent_t> events_;
  bool stopping_ = false;
  std::thread listener_;
  mutable std::mutex fault_mutex_;
  std::optional<Error> fault_;
};

}  // namespace emplace::cuda
