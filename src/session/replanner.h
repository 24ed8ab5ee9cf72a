#pragma once
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "session/session_impl.h"
#include "session/step_times.h"

namespace emplace {

// Has a session's graph placed again when its steps were measured, and moves it where that gains
// more than the measurements can be wrong and more than the move takes. What whole steps took
// decides: a placement over several devices is tried against the best without a search, if trying
// takes less than the steps so far did, and one that turns out slower than a former one is given up
// for that. Steps run under `running()`: a move waits for a moment without any, and not for long,
// since a step may wait for the next one.
class Replanner {
 public:
  explicit Replanner(Session::Impl& session) : s_(session) {}

  // Around a step, by its thread.
  void count(PlanFamily& family);
  void ran(const PlanFamily& family, double seconds);
  std::shared_lock<std::shared_timed_mutex> running() { return std::shared_lock(gate_); }

 private:
  static constexpr int kMostMoves = 3, kMostLooks = 8;

  struct Change {
    Placement placement;
    double before_s = 0, spread_s = 0;
    std::vector<Node*> nodes;
    std::vector<int> to;  // device, by nodes
    bool alone = false;   // without a search
    int former = -1;      // that is gone back to: its number in tried_; -1: a new one
  };
  // A placement whose steps were measured.
  struct Tried {
    const PlanFamily* family;
    std::vector<int> assigned;  // by node id
    std::vector<std::pair<int, int>> explained_by;
    std::unordered_map<int, PlacementRow> told;
    StepTimes times;
  };
  struct Count {
    int64_t steps = 0, next = 0;  // when to look again
    StepTimes times;              // since the last move
  };

  int64_t due(const PlanFamily& family);  // its steps so far, if it is time to look; else 0
  void look(PlanFamily& family, int64_t steps);
  std::optional<Change> better(const PlanFamily& family, int64_t steps);
  std::optional<Change> change_to(const PlanFamily& family, bool alone);
  std::optional<Change> back(const PlanFamily& family);
  bool pays(const Change& change, int64_t steps) const;
  bool worth_trying(const Change& change, int64_t steps, const StepTimes& now) const;
  bool was_tried(const PlanFamily& family, const Change& change) const;
  void remember(const PlanFamily& family);
  StepTimes times(const PlanFamily& family);
  double bytes_moved(const Change& change) const;
  bool move(Change change, int64_t steps);  // false: there was no room for it
  double move_variables(const Change& change);  // their bytes
  void log(const Change& change, int64_t steps, int moved, double bytes);
  void forget_plans();

  Session::Impl& s_;
  std::shared_timed_mutex gate_;
  std::mutex mutex_;
  std::unordered_map<const PlanFamily*, Count> counts_;  // by what was run
  int moves_ = 0, looks_ = 0;
  bool unjudged_ = false;     // the last move: has it made steps slower?
  std::vector<Tried> tried_;  // under gate_
};

}  // namespace emplace
