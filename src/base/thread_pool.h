#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/eventcount.h"
#include "base/function_ref.h"
#include "base/stop_scope.h"

namespace emplace {

// A fixed number of named threads with two kinds of work: tasks (submit) and the blocks of a loop
// that some caller runs and they may help with (parallel_for). Thread-safe. In steady state neither
// allocates. The destructor runs what was submitted, also by tasks that run meanwhile, then joins;
// nobody else may use the pool any more by then.
class ThreadPool {
 public:
  // A plain value, so that handing one over allocates nothing. `fn` must not throw; should it all
  // the same, the error is logged, counted and dropped.
  struct Task {
    void (*fn)(void* arg, uint64_t n);
    void* arg;
    uint64_t n;
  };

  struct Options {
    std::string name = "emplace";  // threads are called <name>/<index>, cut to 15 bytes
    int num_threads = 0;           // 0 or less: none; everything runs in the caller
    std::vector<int> cores = {};   // bind every thread to this set; empty: not bound
  };

  // How parallel_for cuts a loop: a pure function of the loop, never of the number of threads, so
  // that a sum over blocks in their order has the same bits on any machine.
  struct Blocks {
    size_t size = 0;  // items a block; the last one may be shorter
    size_t count = 0;
  };

  // Throws InvalidArgument when the threads cannot be bound to `cores`.
  explicit ThreadPool(Options options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  const std::string& name() const { return options_.name; }
  const std::vector<int>& cores() const { return options_.cores; }

  // Tasks start in the order of submission. Without threads the task runs here and now.
  void submit(Task task);

  // Calls fn(begin, end) for every block of [0, n), several at once; returns when all are done. The
  // caller works too, and helpers are woken only when the loop costs more than waking them. Within
  // a block a further parallel_for, of any pool, runs in place. The first exception ends the loop
  // early and is thrown here. A long loop ends when the caller's work is stopped (StopScope): between
  // blocks, and within them where they attend to that.
  template <typename F>
  void parallel_for(size_t n, double cost_per_item_ns, F&& fn) {
    const Blocks blocks = blocks_of(n, cost_per_item_ns);
    if (blocks.count > 1) {
      run_blocks(n, blocks, static_cast<double>(n) * cost_per_item_ns, fn);
    } else if (blocks.count == 1) {
      fn(size_t{0}, n);
    }
  }

  static Blocks blocks_of(size_t n, double cost_per_item_ns);

  // The pool that the calling thread belongs to, and its index there; null and -1 for others.
  static ThreadPool* current();
  static int current_index();

  // Exceptions that escaped from tasks so far.
  uint64_t dropped_exceptions() const { return dropped_.load(std::memory_order_relaxed); }

  // A loop shorter than this is not worth a helper: about what it takes until one runs.
  static constexpr double kWakeNs = 20'000;
  static constexpr double kBlockNs = 8'000;  // what a block should take at least
  static constexpr size_t kMaxBlocks = 512;

 private:
  using BlockFn = FunctionRef<void(size_t, size_t)>;
  static constexpr int kMaxLoops = 32;  // loops under way that can have helpers; others run alone

  // A loop under way. Lives in the pool, not on its caller's stack: a late helper can always look.
  // `pins` counts the helpers inside; they may look at the rest only if, after pinning, the loop's
  // bit in open_loops_ is set. The caller clears the bit and leaves when no pin is left.
  struct alignas(64) Loop {
    std::atomic<bool> taken{false};
    std::atomic<int> pins{0};
    std::atomic<int> wakes_left{0};
    std::atomic<size_t> next{0};
    const BlockFn* fn = nullptr;
    size_t n = 0;
    Blocks blocks;
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    EventCount unpinned;
    StopWord stop;  // for the helpers: the loop failed, or its caller's work has been stopped
  };

  void run_blocks(size_t n, Blocks blocks, double total_ns, BlockFn fn);
  static void run_alone(size_t n, Blocks blocks, const BlockFn& fn);
  Loop* take_loop();
  void open_loop(Loop& loop, double total_ns);
  void close_loop(Loop& loop);
  void attend_until(FunctionRef<bool()> left, Loop& loop, StopWord& stop);
  void fail(Loop& loop);
  void work_on(Loop& loop);
  void wake_for(Loop& loop, int at_most);
  bool help_some_loop(int index);
  bool help(Loop& loop);
  uint32_t bit_of(const Loop& loop) const { return 1u << (&loop - loops_.data()); }

  void start_threads();
  void stop_threads();
  void work(int index);
  bool has_work() const;
  bool run_one_task();
  void run_task(Task task);
  void grow_ring();

  const Options options_;
  std::vector<std::thread> threads_;
  EventCount idle_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> dropped_{0};

  std::mutex mutex_;        // guards ring_, head_
  std::vector<Task> ring_;  // a power of two
  size_t head_ = 0;
  std::atomic<size_t> queued_{0};  // written under mutex_

  alignas(64) std::atomic<uint32_t> open_loops_{0};  // bit i: loops_[i] has blocks to give
  std::array<Loop, kMaxLoops> loops_;
};

}  // namespace emplace
