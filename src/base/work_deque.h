#pragma once

#include <atomic>
#include <cstdint>

namespace emplace {

// Asks for the cache line at `at`, to write to it: several such misses then pass at the same time,
// where several atomic operations would wait for each other's.
inline void prefetch_for_write(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

// Numbers that one thread, the owner, pushes and pops at one end, newest first, while any other
// takes the oldest at the other end (Chase and Lev's deque, of fixed size). One owner at a time;
// who becomes the owner must have synchronised with the one before.
//
// Why no number is taken twice or lost: pop writes bottom_ and then reads top_, steal reads top_ and
// then bottom_, all sequentially consistent, so of an owner and a thief at the last number at least
// one sees the other and goes through the exchange on top_, which one of them wins. What the owner
// wrote before a push is seen by the thief: it read bottom_ from that push, or from a later write
// of the owner, all of which release.
class WorkDeque {
 public:
  static constexpr uint32_t kNone = ~0u;
  static constexpr int64_t kCapacity = 256;

  // The owner. False when it is full.
  bool push(uint32_t number) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    // A thief frees its place by the exchange on top_, after it has read the number.
    if (bottom - top_.load(std::memory_order_acquire) >= kCapacity) return false;
    at(bottom).store(number, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  // The owner.
  uint32_t pop() {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // Only thieves change top_, upwards: what looks empty is empty.
    if (top_.load(std::memory_order_relaxed) > bottom) return kNone;
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom) return at(bottom).load(std::memory_order_relaxed);
    const bool won = top == bottom && top_.compare_exchange_strong(top, top + 1);
    bottom_.store(bottom + 1, std::memory_order_release);
    return won ? at(bottom).load(std::memory_order_relaxed) : kNone;
  }

  // Anybody. May also come away with nothing because another was faster.
  uint32_t steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst)) return kNone;
    const uint32_t number = at(top).load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1) ? number : kNone;
  }

  // Sequentially consistent with push: for those who look once more before they sleep.
  int64_t size() const {
    const int64_t top = top_.load(std::memory_order_seq_cst);
    return bottom_.load(std::memory_order_seq_cst) - top;
  }

 private:
  static_assert((kCapacity & (kCapacity - 1)) == 0);
  std::atomic<uint32_t>& at(int64_t i) { return numbers_[i & (kCapacity - 1)]; }

  alignas(64) std::atomic<int64_t> top_{0};     // the oldest
  alignas(64) std::atomic<int64_t> bottom_{0};  // behind the newest
  std::atomic<uint32_t> numbers_[kCapacity];
};

}  // namespace emplace
