#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cluster/socket/fd.h"
#include "cluster/work_threads.h"

namespace emplace::cluster {

// The threads of a process that wait for its sockets. Whoever is told that one is ready is told on such
// a thread, and may wait there: there is always one more, as many as were ever needed at once. Any
// thread may call.
class Poller {
 public:
  enum class For { kReading, kWriting };
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void ready() = 0;
  };
  // Told every half second, on a thread that must not wait.
  class Beating {
   public:
    virtual ~Beating() = default;
    virtual void beat() = 0;
  };
  using Watch = uint64_t;

  static Poller& get();  // never ends: sockets may outlive whoever made them

  // `handler` is told once that `fd` is ready, after each `arm`; it is kept until `forget`.
  Watch watch(int fd, For what, std::weak_ptr<Handler> handler);
  void arm(Watch watch);
  void forget(Watch watch);
  void on_beat(std::weak_ptr<Beating> beating);
  // On a thread that may wait.
  void run(std::function<void()> work) { work_.run(std::move(work)); }

 private:
  struct Entry {
    Fd fd;  // a duplicate: reading and writing are watched apart
    uint32_t events = 0;
    bool known = false;  // to the kernel
    std::weak_ptr<Handler> handler;
  };
  Poller();
  void add_thread();
  void serve();
  void attend(Watch watch);
  void beat();

  const Fd epoll_, timer_;
  std::atomic<int> idle_{0};
  std::mutex mutex_;  // guards what follows
  std::unordered_map<Watch, Entry> watched_;
  Watch next_ = 1;
  std::vector<std::weak_ptr<Beating>> beating_;
  WorkThreads work_;
};

}  // namespace emplace::cluster
