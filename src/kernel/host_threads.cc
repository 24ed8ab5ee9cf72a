#include "kernel/host_threads.h"

#include <pthread.h>

#include <thread>

namespace emplace {

HostThreads& HostThreads::get() {
  static HostThreads* const threads = new HostThreads;  // they outlive main
  return *threads;
}

void HostThreads::run(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  if (calls_.size() <= idle_) return more_.notify_one();
  std::thread started([this] { work(); });
  pthread_setname_np(started.native_handle(), "host_function");
  started.detach();
}

void HostThreads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    more_.wait(lock, [&] { return !calls_.empty(); });
    --idle_;
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
  }
}

}  // namespace emplace
