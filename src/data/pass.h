#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/loop_limit.h"
#include "data/stage_counts.h"
#include "kernel/called_function.h"
#include "session/live_work.h"

namespace emplace {
class Device;
}

namespace emplace::data {

class SplitSources;

// tf.data.Options, as far as they say how a pass runs; what is not set is as ever.
struct PassOptions {
  std::optional<bool> deterministic;
  std::optional<bool> autotune;
  int64_t cpu_budget = 0, ram_budget = 0;                // 0: what the machine has, kRamBudget
  int64_t initial_parallelism = 0, min_parallelism = 0;  // 0: as AUTOTUNE finds
  bool all_cores_at_once = false;                        // instead of thread by thread
  int64_t private_threads = 0;                           // most functions under way at once; 0: any
  int64_t max_intra_op = 0;                              // threads for one operation; 0: any
  std::optional<bool> warm_start;  // begins before the first element is asked for
  std::optional<bool> inject_prefetch, parallel_map, parallel_filter, parallel_batch;
  std::optional<int64_t> shard_policy;
  std::optional<int64_t> external_state;  // 0 warn, 1 ignore, 2 fail
  std::string name;
  void merge(const PassOptions& stronger);
};

// What the stages of a pass that adapt may use together. Thread-safe.
class Budget {
 public:
  explicit Budget(const PassOptions& options);
  // May so many more bytes lie in buffers?
  bool has_room_for(int64_t bytes) const { return buffered_ + bytes <= ram; }
  void buffer(int64_t bytes) { buffered_ += bytes; }
  // May threads compute so much more, in cores?
  bool has_cores_for(double more) const { return computing_ + more <= static_cast<double>(cpu); }
  void compute(double more);

  const int64_t cpu, ram;

 private:
  std::atomic<int64_t> buffered_{0};
  std::atomic<double> computing_{0};
};

// One going through of a dataset with all inside of it: what its iterators
// share. Lives as long as they do. Thread-safe.
class Pass {
 public:
  explicit Pass(PassOptions options = {}, std::shared_ptr<PipelineCounts> counts = nullptr);
  ~Pass();

  const PassOptions& options() const { return options_; }
  Budget& budget() { return budget_; }
  // Batches go to this device: a card copies faster from memory made for it.
  void read_by(Device& device) { reader_ = &device; }
  Device* reader() const { return reader_; }
  // Before its iterators are made: deals the elements out to several processes.
  void share_out(std::unique_ptr<SplitSources> splits);
  SplitSources* splits() const { return splits_.get(); }
  // Null for datasets that are made within.
  StageCounts* counts_of(const Dataset& d) const { return counts_ ? counts_->of(d) : nullptr; }
  // Makes every thread of the pass leave what it does, once and for all. To be
  // called before the iterators go.
  void end();

  // The function as this pass calls it in one branch: its random operations begin anew there, and go
  // on where the dataset that calls it is made again.
  std::shared_ptr<CalledFunction> function(const std::shared_ptr<CalledFunction>& f,
                                           uint64_t branch);

 private:
  friend class StageScope;
  friend class FunctionTurn;
  const PassOptions options_;
  Budget budget_;
  std::atomic<Device*> reader_{nullptr};
  const std::shared_ptr<PipelineCounts> counts_;
  std::unique_ptr<SplitSources> splits_;
  std::mutex mutex_;
  std::condition_variable function_ended_;
  int64_t in_functions_ = 0;  // counted where there is a limit
  std::vector<CallScope*> scopes_;
  bool ended_ = false;
  std::map<std::pair<std::string, uint64_t>, std::shared_ptr<CalledFunction>> functions_;
  const LiveWork live_{[this](const Error&) { end(); }};  // the process ends
};

// What a stage's own threads do, in its pass. Ends with the pass, or by itself when the stage goes.
class StageScope {
 public:
  explicit StageScope(Pass& pass);
  ~StageScope();
  void end();
  CallScope calls;

 private:
  Pass& pass_;
};

// The right to be in a function, where a pass has only so many threads for
// them.
class FunctionTurn {
 public:
  FunctionTurn(Pass& pass, CallScope& scope);
  ~FunctionTurn();

 private:
  Pass& pass_;
  const LoopLimit loops_;
};

// Who asks for an element: the pass, and what ends the asking.
struct Caller {
  Pass& pass;
  CallScope& scope;    // of this asking, or of the stage whose thread asks
  bool helped = true;  // may functions use the threads of the session?
  uint64_t branch = 0;  // which of the ways from the root, where datasets of several inputs part

  // On the way to one of several inputs.
  Caller into(size_t input) const {
    return {pass, scope, helped, (branch ^ (input + 1)) * 0x9e3779b97f4a7c15ULL};
  }

  void check() { scope.check(); }
  // Waits until `ready`, for whoever notifies `changed`; throws when the asking is ended, and what
  // the thread sees that looks (StopScope). `lock` is held when it returns or throws.
  template <class Ready>
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!ready()) {
      attend(lock);
      changed.wait_for(lock, kLook);
    }
  }
  // Sleeps until then.
  void wait_until(std::condition_variable& never, std::unique_lock<std::mutex>& lock,
                  std::chrono::steady_clock::time_point then) {
    while (std::chrono::steady_clock::now() < then) {
      attend(lock);
      never.wait_until(lock, std::min(then, std::chrono::steady_clock::now() + kLook));
    }
  }

 private:
  static constexpr std::chrono::milliseconds kLook{20};
  void attend(std::unique_lock<std::mutex>& lock);
};

}  // namespace emplace::data
