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

// Where what a call launches goes: a stream and scratch memory that belongs to it.
struct Lane {
  Gpu* gpu = nullptr;
  cudaStream_t stream = nullptr;
  BufferPtr workspace;
  std::vector<BufferPtr> outgrown;  // of a recording: launches in it may name them
  class CudaQueue* queue = nullptr;  // null while recording
  bool kernel_last = false;          // the latest thing in the stream is a kernel of ours

  // The lane of the call that this thread is making; null outside a call.
  static Lane* current();
  void* scratch(size_t bytes);
};

// A stream. A call is made at once, on the caller's thread, under the queue's lock: what it launches
// goes to the stream in order. A thread of the queue's own waits for what the host wants to know.
// When the card is lost (a kernel's fault, a memory error, a pulled cable) nothing here throws: the
// queue keeps the reason, and whoever waits is told that it has come to an end.
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
  void settle() override { drain(); }
  std::optional<Error> fault() const override;

  std::unique_ptr<Recording> record_calls(std::span<const RecordedCall> calls) override;
  // Makes a call whose launches go to `lane`.
  static void call_on(Lane& lane, Fn fn, void* arg, uint64_t n);

  cudaStream_t stream() const { return lane_.stream; }
  Lane& lane() { return lane_; }
  // Lets scratch memory go; the next call that needs some takes it anew.
  void drop_scratch();
  // Pinned host memory, given back when the stream has passed this point and `to`, if any, has
  // got the bytes.
  void* staging(size_t bytes);
  void unstage(void* staging, size_t bytes, void* to);

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
  cudaEvent_t spare_event();  // null when the card is lost
  void note(cudaError_t result);

  Gpu& gpu_;
  const std::string name_;
  Lane lane_;
  std::recursive_mutex calls_;  // one call at a time
  std::vector<Staged> staged_;  // since the last notice; guarded by calls_

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Notice> notices_;
  std::atomic<size_t> waiting_{0};  // notices not yet taken; read without the lock
  std::vector<cudaEvent_t> events_;
  std::atomic<bool> stopping_{false};
  std::thread listener_;
  mutable std::mutex fault_mutex_;
  std::optional<Error> fault_;
};

}  // namespace emplace::cuda
