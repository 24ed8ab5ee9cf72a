#include "device/spare_memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop_scope.h"

namespace emplace {
namespace {

struct Keepers {
  std::mutex mutex;
  std::vector<const SpareMemory*> all;
};

// A step that has ended keeps its memory until its last thread has left it: hence a few tries, even
// where no step is under way.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{1};
constexpr std::chrono::seconds kPatience{10};

std::atomic<int> stalled{0};  // threads of steps that wait for memory

Keepers& keepers() {
  static auto* const keepers = new Keepers;  // outlives every session
  return *keepers;
}

}  // namespace

SpareMemory::SpareMemory(std::function<int()> let_go) : let_go_(std::move(let_go)) {
  const std::lock_guard lock(keepers().mutex);
  keepers().all.push_back(this);
}

SpareMemory::~SpareMemory() {
  const std::lock_guard lock(keepers().mutex);
  std::erase(keepers().all, this);
}

int SpareMemory::let_all_go() {
  const std::lock_guard lock(keepers().mutex);
  int under_way = 0;
  for (const SpareMemory* keeper : keepers().all) under_way += keeper->let_go_();
  return under_way;
}

void* SpareMemory::find_room(FunctionRef<void*()> attempt) {
  const std::atomic<bool>* const stop = StopScope::current();  // of the step that we are part of
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  stalled += stop != nullptr;
  void* found = nullptr;
  for (int tries = 0;; ++tries) {
    const int under_way = let_all_go();
    if ((found = attempt()) || (stop && stop->load(std::memory_order_relaxed))) break;
    if (tries >= kTries && (under_way <= stalled || std::chrono::steady_clock::now() > deadline))
      break;
    std::this_thread::sleep_for(kPause);
  }
  stalled -= stop != nullptr;
  return found;
}

}  // namespace emplace
