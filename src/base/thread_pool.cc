#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/cpu_info.h"
#include "base/errno_text.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/loop_limit.h"
#include "base/stop_scope.h"
#include "emplace/error.h"

namespace emplace {
namespace {

thread_local ThreadPool* current_pool = nullptr;
thread_local int current_worker = -1;
thread_local bool inside_block = false;
thread_local bool helping = false;  // with a loop that another thread runs

// Loops that take longer, at a guess, look between blocks whether they are still wanted. Shorter ones
// end soon by themselves, and leave no variable half written.
constexpr double kPatienceNs = 10e6;
constexpr std::chrono::milliseconds kLook{20};

constexpr int kWakeFanOut = 2;  // helpers wake helpers: a tree, so that the caller can work

// Marks the thread as being inside a block, so that nested loops run in place.
class BlockScope {
 public:
  BlockScope() { inside_block = true; }
  ~BlockScope() { inside_block = false; }
};

// How many threads are at work on these loops: who runs one, and who helps.
template <typename Loops>
int busy_in(const Loops& loops) {
  int busy = 0;
  for (const auto& loop : loops) {
    if (loop.taken.load(std::memory_order_relaxed))
      busy += 1 + loop.pins.load(std::memory_order_relaxed);
  }
  return busy;
}

// A set of cores as the kernel wants it, of any size.
class CoreSet {
 public:
  explicit CoreSet(int capacity)
      : bytes_(CPU_ALLOC_SIZE(capacity)), words_(bytes_ / sizeof(unsigned long)) {}
  size_t bytes() const { return bytes_; }
  cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  void add(int core) { CPU_SET_S(static_cast<size_t>(core), bytes_, get()); }
  bool operator==(const CoreSet&) const = default;

 private:
  size_t bytes_;
  std::vector<unsigned long> words_;
};

// The kernel quietly drops cores that the process may not use; we read back what it took.
void bind(std::thread& thread, const std::string& name, const std::vector<int>& cores) {
  if (*std::min_element(cores.begin(), cores.end()) < 0)
    throw invalid_argument("Cannot bind the threads of pool '" + name + "' to cores " +
                           format_core_list(cores) + ": a core's number is negative");
  const int capacity = std::max(CPU_SETSIZE, *std::max_element(cores.begin(), cores.end()) + 1);
  CoreSet wanted(capacity), got(capacity);
  for (int core : cores) wanted.add(core);
  int failure = pthread_setaffinity_np(thread.native_handle(), wanted.bytes(), wanted.get());
  if (failure == 0)
    failure = pthread_getaffinity_np(thread.native_handle(), got.bytes(), got.get());
  if (failure == 0 && got == wanted) return;
  throw invalid_argument("Cannot bind the threads of pool '" + name + "' to cores " +
                         format_core_list(cores) + ": " +
                         (failure ? errno_text(failure) : "not all of them may be used"));
}

void name_thread(std::thread& thread, const std::string& pool, int index) {
  const std::string suffix = "/" + std::to_string(index);
  const std::string full = pool.substr(0, 15 - std::min<size_t>(15, suffix.size())) + suffix;
  pthread_setname_np(thread.native_handle(), full.c_str());
}

// Where there is no memory for the words, they are left out.
void say_dropped(const std::string& pool, const char* what) noexcept {
  try {
    log_error("A task of pool '{}' threw: {}", pool, what);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

ThreadPool::ThreadPool(Options options) : options_(std::move(options)), ring_(64) {
  try {
    start_threads();
  } catch (...) {
    stop_threads();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop_threads(); }

void ThreadPool::start_threads() {
  try {
    threads_.reserve(static_cast<size_t>(std::max(0, options_.num_threads)));
    for (int i = 0; i < options_.num_threads; ++i) {
      threads_.emplace_back([this, i] { work(i); });
      name_thread(threads_.back(), options_.name, i);
      if (!options_.cores.empty()) bind(threads_.back(), options_.name, options_.cores);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw resource_exhausted("The " + std::to_string(options_.num_threads) + " threads of pool '" +
                             options_.name + "' cannot be started: " + e.what());
  }
}

void ThreadPool::stop_threads() {
  stopping_.store(true, std::memory_order_release);
  idle_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ThreadPool* ThreadPool::current() { return current_pool; }
int ThreadPool::current_index() { return current_worker; }

void ThreadPool::work(int index) {
  current_pool = this;
  current_worker = index;
  const auto wanted = [this] { return has_work() || stopping_.load(std::memory_order_acquire); };
  while (true) {
    if (run_one_task() || help_some_loop(index)) continue;
    if (stopping_.load(std::memory_order_acquire)) {
      // A task that another worker runs may still submit: that worker will see to it.
      if (!run_one_task()) return;
      continue;
    }
    idle_.await(wanted);
  }
}

// One caller and all helpers are meant to fill the machine. Where several callers run loops at once
// so many helpers stay out: threads that take turns on a core only wait for each other.
bool ThreadPool::has_work() const {
  return queued_.load(std::memory_order_acquire) != 0 ||
         (open_loops_.load(std::memory_order_acquire) != 0 && busy_in(loops_) <= size());
}

void ThreadPool::submit(Task task) {
  if (threads_.empty()) return run_task(task);
  {
    std::lock_guard lock(mutex_);
    const size_t queued = queued_.load(std::memory_order_relaxed);
    if (queued == ring_.size()) insist([this] { grow_ring(); });
    ring_[(head_ + queued) & (ring_.size() - 1)] = task;
    queued_.store(queued + 1, std::memory_order_release);
  }
  idle_.notify_one();
}

void ThreadPool::grow_ring() {
  std::vector<Task> larger(ring_.size() * 2);
  for (size_t i = 0; i < ring_.size(); ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
  ring_.swap(larger);
  head_ = 0;
}

bool ThreadPool::run_one_task() {
  if (queued_.load(std::memory_order_acquire) == 0) return false;
  Task task;
  {
    std::lock_guard lock(mutex_);
    const size_t queued = queued_.load(std::memory_order_relaxed);
    if (queued == 0) return false;
    task = ring_[head_];
    head_ = (head_ + 1) & (ring_.size() - 1);
    queued_.store(queued - 1, std::memory_order_release);
  }
  run_task(task);
  return true;
}

void ThreadPool::run_task(Task task) {
  try {
    task.fn(task.arg, task.n);
  } catch (const std::exception& error) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    say_dropped(options_.name, error.what());
  } catch (...) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    say_dropped(options_.name, "something that is no exception");
  }
}

ThreadPool::Blocks ThreadPool::blocks_of(size_t n, double cost_per_item_ns) {
  if (n == 0) return {0, 0};
  const double items = static_cast<double>(n);
  if (!(items * cost_per_item_ns > kWakeNs)) return {n, 1};  // also when the cost is not a number
  double size = std::max(std::ceil(kBlockNs / cost_per_item_ns),
                         std::ceil(items / static_cast<double>(kMaxBlocks)));
  if (size > 64) size = std::ceil(size / 64) * 64;  // whole cache lines and vectors
  const size_t block = size < items ? static_cast<size_t>(size) : n;
  return {block, (n - 1) / block + 1};
}

void ThreadPool::run_blocks(size_t n, Blocks blocks, double total_ns, BlockFn fn) {
  StopWord* const stop = total_ns > kPatienceNs ? StopScope::current() : nullptr;
  const auto unless_stopped = [&](size_t begin, size_t end) {
    if (!stop->calm()) [[unlikely]] StopScope::attend(*stop);
    fn(begin, end);
  };
  const BlockFn block = stop ? BlockFn(unless_stopped) : fn;
  Loop* loop =
      threads_.empty() || inside_block || !LoopLimit::allows(size()) ? nullptr : take_loop();
  if (!loop) return run_alone(n, blocks, block);
  loop->fn = &block;
  loop->n = n;
  loop->blocks = blocks;
  open_loop(*loop, total_ns);
  work_on(*loop);
  close_loop(*loop);
}

void ThreadPool::run_alone(size_t n, Blocks blocks, const BlockFn& fn) {
  for (size_t begin = 0; begin < n; begin += std::min(blocks.size, n - begin)) {
    fn(begin, begin + std::min(blocks.size, n - begin));
  }
}

ThreadPool::Loop* ThreadPool::take_loop() {
  for (Loop& loop : loops_) {
    if (!loop.taken.load(std::memory_order_relaxed) &&
        !loop.taken.exchange(true, std::memory_order_acquire)) {
      return &loop;
    }
  }
  return nullptr;
}

void ThreadPool::open_loop(Loop& loop, double total_ns) {
  loop.next.store(0, std::memory_order_relaxed);
  loop.failed.store(false, std::memory_order_relaxed);
  loop.failure = nullptr;
  loop.stop.reset();
  // Helpers that are awake come by themselves. One that sleeps comes kWakeNs late and costs a
  // system call: it pays from the third kWakeNs of work on (measured: 40 µs gain nothing, 60 do).
  const int room = size() + 1 - busy_in(loops_);  // this caller is counted among the busy
  const double worthwhile = std::min(total_ns / kWakeNs - 2, static_cast<double>(room));
  const int helpers = std::max(0, static_cast<int>(worthwhile));
  loop.wakes_left.store(helpers, std::memory_order_relaxed);
  open_loops_.fetch_or(bit_of(loop));
  wake_for(loop, kWakeFanOut);
}

// The bit goes first and the pins are read after it; a helper pins first and reads the bit after.
// With both orders sequentially consistent one of the two sees the other.
void ThreadPool::close_loop(Loop& loop) {
  open_loops_.fetch_and(~bit_of(loop));
  const auto left = [&] { return loop.pins.load() == 0; };
  if (!EventCount::spin_until(left)) {
    if (StopWord* const stop = StopScope::current()) attend_until(left, loop, *stop);
    else loop.unpinned.await(left, {});
  }
  const std::exception_ptr failure = std::exchange(loop.failure, nullptr);
  loop.taken.store(false, std::memory_order_release);
  if (has_work()) idle_.notify_one();  // there is room for a helper elsewhere now
  if (failure) std::rethrow_exception(failure);
}

// Helpers' blocks may be long: they are told when the caller's work is stopped meanwhile.
void ThreadPool::attend_until(FunctionRef<bool()> left, Loop& loop, StopWord& stop) {
  while (true) {
    const EventCount::Key key = loop.unpinned.prepare_wait();
    if (left()) return loop.unpinned.cancel_wait();
    loop.unpinned.commit_wait_for(key, kLook);
    if (left()) return;
    if (stop.calm() || loop.stop.stopped()) continue;
    try {
      StopScope::attend(stop);
    } catch (...) {
      fail(loop);
    }
  }
}

// With the exception that is being handled.
void ThreadPool::fail(Loop& loop) {
  if (!loop.failed.exchange(true)) loop.failure = std::current_exception();
  loop.stop.stop();
  loop.next.store(loop.blocks.count, std::memory_order_relaxed);
  open_loops_.fetch_and(~bit_of(loop));
}

void ThreadPool::wake_for(Loop& loop, int at_most) {
  const int left = loop.wakes_left.fetch_sub(at_most, std::memory_order_relaxed);
  if (left > 0) idle_.notify(std::min(left, at_most));
}

void ThreadPool::work_on(Loop& loop) {
  const BlockScope scope;
  const size_t count = loop.blocks.count, size = loop.blocks.size;
  while (!(helping && busy_in(loops_) > this->size() + 1)) {
    const size_t block = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (block >= count) return;
    // Whoever takes the last block says that there is nothing left to help with.
    if (block + 1 == count) open_loops_.fetch_and(~bit_of(loop));
    try {
      const size_t begin = block * size;
      (*loop.fn)(begin, std::min(loop.n, begin + size));
    } catch (...) {
      return fail(loop);
    }
  }
}

bool ThreadPool::help_some_loop(int index) {
  const uint32_t open = open_loops_.load(std::memory_order_acquire);
  if (open == 0 || busy_in(loops_) > size()) return false;
  // Workers start at different loops, so that several loops at once all get help.
  const int start = index % kMaxLoops;
  const int found = (std::countr_zero(std::rotr(open, start)) + start) % kMaxLoops;
  return help(loops_[static_cast<size_t>(found)]);
}

bool ThreadPool::help(Loop& loop) {
  loop.pins.fetch_add(1);
  const bool open = (open_loops_.load() & bit_of(loop)) != 0;
  if (open) {
    wake_for(loop, kWakeFanOut);
    const StopScope stoppable(loop.stop);
    helping = true;
    work_on(loop);
    helping = false;
  }
  if (loop.pins.fetch_sub(1) == 1) loop.unpinned.notify_all();
  return open;
}

}  // namespace emplace
