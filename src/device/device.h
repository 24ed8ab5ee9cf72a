#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/device_name.h"
#include "base/thread_pool.h"
#include "emplace/tensor.h"

namespace emplace {

// A signal between queues: a counter that a queue raises to the step's number when it gets there.
// Owned by a plan's instance, so it serves many steps and needs no reset.
class Event {
 public:
  virtual ~Event() = default;
};

// One call of a recording: fn(arg, n) on line `lane`, behind the calls of other lanes in `after`. What
// it points at outlives the recording.
struct RecordedCall {
  void (*fn)(void* arg, uint64_t n);
  void* arg;
  uint64_t n;
  int lane;
  std::span<const uint32_t> after;  // indices of earlier calls
};

// Work that was recorded once and can be enqueued again at little cost: the same launches with the
// same addresses. Belongs to the queue it was recorded on.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;  // from a call on that queue
};

// An ordered line of work on a device. `submit` returns at once; tasks of one queue run one after
// another, queues run beside each other. Callable from any thread; allocates nothing once warm.
class Queue {
 public:
  using Fn = void (*)(void* arg, uint64_t n);
  virtual ~Queue() = default;
  // Runs fn(arg, n) in order: a kernel call. On CUDA it runs at once and enqueues on the stream.
  virtual void submit(Fn fn, void* arg, uint64_t n) = 0;
  // Runs fn(arg, n) on a host thread after everything submitted before is done.
  virtual void notify(Fn fn, void* arg, uint64_t n) = 0;
  virtual void record(Event& e, uint64_t step) = 0;  // e reaches `step` when all before is done
  virtual void wait(Event& e, uint64_t step) = 0;    // what comes after waits until e >= step
  virtual std::unique_ptr<Event> make_event() = 0;
  // Keeps what the calls would launch, without running it: a card makes them for that, once; a
  // virtual GPU keeps the calls themselves.
  virtual std::unique_ptr<Recording> record_calls(std::span<const RecordedCall>) {
    throw internal_error("this queue records nothing");
  }
  virtual void drain() = 0;           // blocks the caller until the queue is empty
  // From a call on this queue: waits for the work that the call has only enqueued so far. Where calls
  // do their work themselves there is none.
  virtual void settle() {}
  // What broke the device under this queue, if anything: calls made on it are lost.
  virtual std::optional<Error> fault() const { return std::nullopt; }
};

struct MemoryStats {
  int64_t limit = 0, in_use = 0, peak = 0, num_allocs = 0, largest = 0, reserved = 0;
};

// A place where kernels run. Owned by the runtime; thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  const std::string& name() const { return name_; }       // full: "/job:localhost/…/device:GPU:0"
  const DeviceName& parsed_name() const { return parsed_; }
  const std::string& type() const { return type_; }       // "CPU", "GPU"
  const std::string& description() const { return description_; }  // empty for CPUs
  uint64_t incarnation() const { return incarnation_; }
  int64_t memory_limit() const { return memory_limit_; }

  // Fresh device memory; `tag` names the node for out-of-memory reports.
  virtual BufferPtr allocate(size_t bytes, std::string_view tag) = 0;
  virtual MemoryStats memory_stats() const = 0;
  virtual void trim() {}  // give unused memory back

  // Does a kernel call only enqueue (GPU types), or is it done when it returns (CPU types)?
  bool is_async() const { return num_queues() > 0; }
  virtual int num_queues() const { return 0; }  // compute queues
  virtual bool can_record() const { return false; }
  virtual Queue& queue(int) { throw internal_error("device has no queues"); }
  virtual Queue& copy_in_queue() { throw internal_error("device has no queues"); }   // host -> device
  virtual Queue& copy_out_queue() { throw internal_error("device has no queues"); }  // device -> host
  // Moves bytes; `to`/`from` say which side of this device's memory the addresses are on. Called on
  // the copy queue.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  // Makes a kernel call outside any plan, as eager does: on the first queue where calls only enqueue.
  virtual void call(Queue::Fn fn, void* arg, uint64_t n) { fn(arg, n); }

  virtual ThreadPool& inter_op() = 0;
  virtual ThreadPool& intra_op() = 0;

  // Debug builds: is `p` an address of this device's memory?
  virtual bool owns(const void* p) const = 0;

 protected:
  Device(DeviceName name, std::string description, int64_t memory_limit);

 private:
  std::string name_;
  DeviceName parsed_;
  std::string type_, description_;
  uint64_t incarnation_;
  int64_t memory_limit_;
};

}  // namespace emplace
