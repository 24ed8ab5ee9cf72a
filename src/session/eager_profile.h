#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "emplace/eager.h"

namespace emplace {

// What eager operations and functions of the process do while a profile is taken. Any thread may
// call.
class EagerProfile {
 public:
  static EagerProfile& get();
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void start();
  std::vector<ProfiledCall> stop();

  // Notes a call from its making to its end.
  class Call {
   public:
    Call(std::string name, std::string device);
    ~Call();
    Call(const Call&) = delete;
    ProfiledCall& noted() { return call_; }

   private:
    ProfiledCall call_;
  };

 private:
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<ProfiledCall> calls_;
};

}  // namespace emplace
