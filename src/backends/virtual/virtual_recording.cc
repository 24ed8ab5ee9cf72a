// Calls kept and played back, as a card replays what it has recorded.
#include <set>

#include "backends/virtual/virtual_queue.h"

namespace emplace {
namespace {

// Plays the calls one after another on the queue's own thread. Lanes of a card run beside each
// other; here they take turns at going first, so that a call which counts on another lane without
// saying so meets a value that is not there, in every second replay.
class CallList final : public Recording {
 public:
  explicit CallList(std::span<const RecordedCall> calls) : calls_(calls.begin(), calls.end()) {
    std::set<int> used;
    for (const RecordedCall& c : calls) used.insert(c.lane);
    orders_[0] = order({used.begin(), used.end()});
    orders_[1] = order({used.rbegin(), used.rend()});
  }

  void replay() override {
    for (const uint32_t i : orders_[turn_]) calls_[i].fn(calls_[i].arg, calls_[i].n);
    turn_ = 1 - turn_;
  }

 private:
  // Whatever can go first of the lanes that stand first.
  std::vector<uint32_t> order(const std::vector<int>& lanes) const {
    std::vector<std::vector<uint32_t>> waiting(lanes.size());
    for (size_t l = 0; l < lanes.size(); ++l)
      for (uint32_t i = calls_.size(); i-- > 0;)
        if (calls_[i].lane == lanes[l]) waiting[l].push_back(i);
    std::vector<bool> done(calls_.size());
    std::vector<uint32_t> order;
    while (order.size() < calls_.size()) {
      const uint32_t next = first_ready(waiting, done);
      done[next] = true;
      order.push_back(next);
    }
    return order;
  }

  uint32_t first_ready(std::vector<std::vector<uint32_t>>& waiting,
                       const std::vector<bool>& done) const {
    for (std::vector<uint32_t>& lane : waiting) {
      if (lane.empty()) continue;
      const uint32_t i = lane.back();
      bool ready = true;
      for (const uint32_t before : calls_[i].after) ready = ready && done[before];
      if (!ready) continue;
      lane.pop_back();
      return i;
    }
    throw internal_error("calls of a recording wait for each other");
  }

  const std::vector<RecordedCall> calls_;
  std::vector<uint32_t> orders_[2];
  int turn_ = 0;
};

}  // namespace

std::unique_ptr<Recording> VirtualQueue::record_calls(std::span<const RecordedCall> calls) {
  return std::make_unique<CallList>(calls);
}

}  // namespace emplace
