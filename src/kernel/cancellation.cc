#include <algorithm>

#include "kernel/kernel.h"

namespace emplace {

uint64_t Cancellation::add(std::function<void()> callback) {
  uint64_t id;
  {
    std::lock_guard lock(mutex_);
    id = next_++;
    if (!cancelled()) {
      callbacks_.emplace_back(id, std::move(callback));
      return id;
    }
  }
  callback();
  return id;
}

bool Cancellation::remove(uint64_t id) {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(callbacks_.begin(), callbacks_.end(),
                         [&](const auto& entry) { return entry.first == id; });
  if (it == callbacks_.end()) return false;
  callbacks_.erase(it);
  return true;
}

// Callbacks run without the lock: they may add and remove others.
void Cancellation::cancel() {
  std::vector<std::pair<uint64_t, std::function<void()>>> callbacks;
  {
    std::lock_guard lock(mutex_);
    cancelled_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (auto& [id, callback] : callbacks) callback();
}

void Cancellation::reset() {
  std::lock_guard lock(mutex_);
  cancelled_.store(false, std::memory_order_release);
  callbacks_.clear();
}

}  // namespace emplace
