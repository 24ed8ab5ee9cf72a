#include "device/spare_memory.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop_scope.h"

namespace emplace {
namespace {

struct Keepers {
  std::mutex mutex;
  std::vector<const SpareMemory*> all;
  std::map<const StopWord*, int> stalled;  // steps that wait for memory: in how many threads
};

// A step that has ended keeps its memory until its last thread has left it, and a neighbour may just
// be between two steps: only so many tries in a row with no step under way end the search.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{1};
constexpr std::chrono::seconds kPatience{10};

Keepers& keepers() {
  static auto* const keepers = new Keepers;  // outlives every session
  return *keepers;
}

// While it lives, the step that this thread works for counts as one that waits for memory.
class Stalled {
 public:
  Stalled() {
    const std::lock_guard lock(keepers().mutex);
    if (step_) ++keepers().stalled[step_];
  }
  ~Stalled() {
    const std::lock_guard lock(keepers().mutex);
    if (step_ && --keepers().stalled[step_] == 0) keepers().stalled.erase(step_);
  }
  Stalled(const Stalled&) = delete;
  Stalled& operator=(const Stalled&) = delete;

  bool stopped() const { return step_ && step_->stopped(); }

 private:
  const StopWord* const step_ = StopScope::current();
};

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
  return under_way - static_cast<int>(keepers().stalled.size());
}

void* SpareMemory::find_room(FunctionRef<void*()> attempt) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const Stalled stalled;
  for (int in_vain = 0; in_vain < kTries && std::chrono::steady_clock::now() < deadline;) {
    in_vain = let_all_go() > 0 ? 0 : in_vain + 1;
    if (void* found = attempt()) return found;
    if (stalled.stopped()) break;
    std::this_thread::sleep_for(kPause);
  }
  return nullptr;
}

}  // namespace emplace
