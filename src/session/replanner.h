#pragma once
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "session/session_impl.h"

namespace emplace {

// Has a session's graph placed again when its steps were measured, and moves it where that gains more
// than the measurements can be wrong and more than the move takes. Steps run under `running()`: a
// move waits for a moment without any, and not for long, since a step may wait for the next one.
class Replanner {
 public:
  explicit Replanner(Session::Impl& session) : s_(session) {}

  // Before a step, by its thread.
  void count(PlanFamily& family);
  std::shared_lock<std::shared_timed_mutex> running() { return std::shared_lock(gate_); }

 private:
  static constexpr int kMostMoves = 3, kMostLooks = 6;

  struct Change {
    Placement placement;
    double before_s = 0, spread_s = 0;
    std::vector<Node*> nodes;
    std::vector<int> to;  // device, by nodes
  };
  int64_t due(const PlanFamily& family);  // its steps so far, if it is time to look; else 0
  void look(PlanFamily& family, int64_t steps);
  std::optional<Change> better(const PlanFamily& family, int64_t steps);
  bool pays(const Change& change, int64_t steps) const;
  bool move(Change change, int64_t steps);  // false: there was no room for it
  double move_variables(const Change& change);  // their bytes
  void forget_plans();

  Session::Impl& s_;
  std::shared_timed_mutex gate_;
  std::mutex mutex_;
  struct Count {
    int64_t steps = 0, next = 0;  // when to look again
  };
  std::unordered_map<const PlanFamily*, Count> counts_;  // by what was run
  int moves_ = 0, looks_ = 0;
};

}  // namespace emplace
