#pragma once
#include <chrono>
#include <map>
#include <mutex>

#include "cluster/transport.h"

namespace emplace::cluster {

// What is taken from others; 0: no limit but what there is.
struct DoorLimits {
  size_t max_message = 0;        // bytes of a call's
  int calls_per_second = 0;      // of each peer's, programs of the same user on this machine left out
  int64_t longest_call_ms = 0;   // of the same
  bool everyone = false;         // those who are not known may do what the same user may
};

// Through here every call comes, by whatever protocol: who it is from, how long it is, how many come, and
// how long it may take. Any thread may call.
class Door final : public Service {
 public:
  Door(const DoorLimits& limits, Service& inside) : limits_(limits), inside_(inside) {}
  void call(std::shared_ptr<IncomingCall> call) override;

 private:
  void check(IncomingCall& call);
  void count(const Caller& caller);

  const DoorLimits limits_;
  Service& inside_;
  // Calls of a peer's in the second that began then.
  struct Second {
    std::chrono::steady_clock::time_point began;
    int calls = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Second> seconds_;
};

// Who may call a method: tasks alone may what only tasks say to each other.
bool may_call(Caller::Kind kind, std::string_view method, bool everyone);

}  // namespace emplace::cluster
