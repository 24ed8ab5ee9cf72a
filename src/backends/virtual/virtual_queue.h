#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/eventcount.h"
#include "device/device.h"

namespace emplace {

class VirtualEvent final : public Event {
 public:
  ~VirtualEvent() override;
  void reach(uint64_t step);
  void wait_for(uint64_t step);

 private:
  std::atomic<uint64_t> step_{0};
  std::atomic<int> inside_{0};  // threads in reach()
  EventCount changed_;
};

// A queue of a virtual GPU: one thread that takes one entry after another, as a stream of a card
// does, beside whoever submits. The thread starts with the first entry.
class VirtualQueue final : public Queue {
 public:
  explicit VirtualQueue(std::string thread_name);
  ~VirtualQueue() override;

  void submit(Fn fn, void* arg, uint64_t n) override;
  void notify(Fn fn, void* arg, uint64_t n) override;
  void record(Event& e, uint64_t step) override;
  void wait(Event& e, uint64_t step) override;
  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<Recording> record_calls(std::span<const RecordedCall> calls) override;
  void drain() override;

 private:
  enum class Kind : uint8_t { kCall, kRecord, kWait };
  struct Entry {
    Kind kind;
    Fn fn;
    void* arg;  // kRecord, kWait: the event
    uint64_t n;
  };

  void put(Entry e);
  void run();
  bool take(Entry& e);
  static void carry_out(const Entry& e);
  void grow();

  const std::string thread_name_;
  std::mutex mutex_;            // guards ring_, head_, thread_
  std::vector<Entry> ring_;     // a power of two
  size_t head_ = 0;
  std::atomic<size_t> queued_{0};
  std::atomic<uint64_t> done_{0}, put_{0};
  std::atomic<bool> stopping_{false};
  EventCount work_, progress_;
  std::thread thread_;
};

}  // namespace emplace
