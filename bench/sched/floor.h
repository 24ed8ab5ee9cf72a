// The floor: how fast a bare flat scheduler gets, with nothing an engine needs besides.
//
// One flat record a node, successors in one array (a lone one in the record), join counters that
// the last to arrive sets up again, no atomic for a node with one predecessor, nor for any while
// one worker has them all. The calling thread works; it runs the first ready successor at once and keeps the others in a deque of its own that nobody else touches: a
// thief asks, and the owner hands over its oldest node between two nodes. A thief whose booty was
// worth less than a theft costs stays away for a while, twice as long each time. A run too short
// to be worth a waking call stays on the calling thread.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "bench/sched/contender.h"

namespace emplace::bench {

class Floor final : public Contender {
 public:
  Floor() = default;
  ~Floor() override { stop_helpers(); }

  std::string name() const override { return "floor"; }
  bool schedules() const override { return false; }
  void prepare(const TaskGraph& graph, Work work, int workers) override;
  void run() override;

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kWaiting = ~0u - 1;

  // Those a worker has to think of: they may ask for a node, or have some.
  enum class Others { kIdle, kBusy };

  struct Record {
    Work work;
    uint32_t succ_begin;            // in succs_; a lone successor stands here itself
    uint32_t succ_count;
    uint32_t joins;                 // predecessors
    std::atomic<uint32_t> pending;  // predecessors still to come; `joins` between two runs
  };

  struct Worker {
    // Only the owner touches these.
    std::vector<uint32_t> ready;
    uint32_t oldest = 0;
    uint32_t end = 0;
    uint32_t done = 0;
    uint64_t pause = 0;  // clock ticks to stay away from others' work
    // A thief's number plus one, 0 for none.
    alignas(64) std::atomic<uint32_t> asked_by = 0;
    // What a victim hands over: a node, kNone for a refusal, kWaiting before the answer.
    alignas(64) std::atomic<uint32_t> mailbox = kNone;
  };

  template <Others kOthers> bool arrive(Record& record);
  std::span<const uint32_t> succs_of(const Record& record) const;
  void work_alone();
  template <Others kOthers> bool work_on(Worker& self);
  void work_off(Worker& self);
  void start();
  void run_alone();
  void run_shared();
  bool answer(Worker& self);
  uint32_t steal(uint32_t thief);
  uint32_t await_answer(Worker& self, Worker& victim, uint32_t thief);
  void plunder(uint32_t thief);
  void stay_away(const Worker& self);
  bool finished() const { return holders_.load(std::memory_order_acquire) == 0; }
  void help(uint32_t worker);
  void stop_helpers();

  std::vector<Record> records_;
  std::vector<uint32_t> succs_;
  std::vector<uint32_t> sources_;
  uint32_t nodes_ = 0;
  uint64_t measured_ticks_ = ~0ull;  // the shortest of the first runs
  int measured_runs_ = 0;

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> helpers_;
  std::atomic<bool> stopping_ = false;
  alignas(64) std::atomic<uint32_t> active_ = 0;  // a run wants helpers
  alignas(64) std::atomic<uint32_t> holders_ = 0;  // workers that have nodes; 0: the run is over
};

}  // namespace emplace::bench
