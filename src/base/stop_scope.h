#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace emplace {

// What the threads of a piece of work read between two parts of it: go on, look up, or stop. One
// load in the usual case.
class StopWord {
 public:
  bool calm() const { return word_.load(std::memory_order_relaxed) == 0; }
  bool stopped() const { return word_.load(std::memory_order_relaxed) & kStop; }
  // Who stops it knows why, and says so.
  void stop() { word_.fetch_or(kStop, std::memory_order_release); }
  // From any thread, or a signal's handler.
  void ask() { word_.fetch_or(kAsked, std::memory_order_relaxed); }
  bool take_question() { return word_.fetch_and(kStop, std::memory_order_relaxed) & kAsked; }
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr uint8_t kAsked = 1, kStop = 2;
  std::atomic<uint8_t> word_{0};
};

// While it lives, this thread works under `word`: long loops (ThreadPool::parallel_for) end between
// two blocks with Cancelled once it is stopped.
class StopScope {
 public:
  explicit StopScope(StopWord& word) : outer_(std::exchange(current_, &word)) {
    if (look_) show(&word);
  }
  ~StopScope() {
    current_ = outer_;
    if (look_) show(outer_);
  }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static StopWord* current() { return current_; }

  // ---- One thread of the process may have something to look after besides; see set_look in
  // emplace/eager.h.
  static void set_look(void (*look)()) { look_ = look; }
  static bool looks() { return look_ != nullptr; }
  static void ask();  // that thread; from any other
  static uint64_t work_of_looker();
  // Where `word` is not calm: throws once it is stopped; looks if this thread is to, and was asked.
  static void attend(StopWord& word);
  // This thread, between two parts of its work, whatever it works under.
  static void attend() {
    if (current_ && !current_->calm()) [[unlikely]] attend(*current_);
  }

 private:
  static void show(StopWord* word);

  StopWord* const outer_;
  static inline constinit thread_local StopWord* current_ = nullptr;
  using Look = void (*)();
  static inline constinit thread_local Look look_ = nullptr;
  static inline std::atomic<StopWord*> shown_{nullptr};  // current_ of the thread that looks
  static inline std::atomic<uint64_t> turns_{0};
  static inline std::atomic<int> asking_{0};
};

// Attends now and then: for loops of many rounds that can take seconds together.
class Pace {
 public:
  void step() {
    if (++rounds_ % 32 == 0) [[unlikely]] StopScope::attend();
  }

 private:
  uint32_t rounds_ = 0;
};

// 0 … n-1 at a Pace: for (const int64_t i : paced(n)).
template <class I>
class Paced {
 public:
  class Iterator {
   public:
    explicit Iterator(I i) : i_(i) {}
    I operator*() const { return i_; }
    Iterator& operator++() {
      ++i_;
      pace_.step();
      return *this;
    }
    bool operator!=(const Iterator& end) const { return i_ < end.i_; }

   private:
    I i_;
    Pace pace_;
  };

  explicit Paced(I n) : n_(n) {}
  Iterator begin() const { return Iterator(I(0)); }
  Iterator end() const { return Iterator(n_); }

 private:
  I n_;
};
template <class I>
Paced<I> paced(I n) {
  return Paced<I>(n);
}

}  // namespace emplace
