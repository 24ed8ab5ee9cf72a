#include "base/host_cache.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/free_memory.h"
#include "base/host_limit.h"
#include "emplace/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emplace {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMaxBytes = size_t{1} << 46;          // more than any machine has
constexpr size_t kMaxThreadBlock = size_t{1} << 16;    // larger blocks are not kept by threads
constexpr size_t kThreadClassBytes = size_t{1} << 16;  // what a thread keeps of one class
constexpr uint32_t kThreadClassBlocks = 64;

// Four classes to each doubling: 64 128 192 256 | 320 384 448 512 | 640 768 896 1024 | …
// Class 4·e + m is (5 + m) · 2^(e - 1) lines of 64 bytes; the first four are 1 to 4 lines.
constexpr size_t class_of(size_t bytes) {
  const size_t units = (bytes - 1) / kHostAlignment;  // 0 … 3: the first four
  if (units < 4) return units;
  const auto shift = static_cast<size_t>(std::bit_width(units)) - 3;
  return 4 * shift + (units >> shift);
}

constexpr size_t size_of_class(size_t c) {
  if (c < 4) return (c + 1) * kHostAlignment;
  const size_t shift = c / 4 - 1;
  return ((4 + c % 4 + 1) << shift) * kHostAlignment;
}

constexpr size_t kNumClasses = class_of(kMaxBytes) + 1;
constexpr size_t kNumThreadClasses = class_of(kMaxThreadBlock) + 1;
static_assert(size_of_class(class_of(1)) == 64 && size_of_class(class_of(64)) == 64);
static_assert(size_of_class(class_of(65)) == 128 && size_of_class(class_of(257)) == 320);
static_assert(size_of_class(class_of(513)) == 640 && size_of_class(class_of(1024)) == 1024);
static_assert(size_of_class(class_of(kMaxThreadBlock)) == kMaxThreadBlock);

struct FreeBlock {
  FreeBlock* next;
};

// Lets the address sanitizer see the use of a block that is kept here, and of bytes beyond the end.
// Only the first `usable` bytes may be touched; a kept block keeps its link usable.
void expose_only([[maybe_unused]] void* block, [[maybe_unused]] size_t usable,
                 [[maybe_unused]] size_t whole) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(block, whole);
  __asan_unpoison_memory_region(block, usable);
#endif
}

// Maps whole huge pages' alignment by mapping more and giving the edges back.
void* map_huge(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto base = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (base + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned > base) munmap(raw, aligned - base);
  const size_t tail = base + mapped - (aligned + bytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

std::optional<size_t> megabytes_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return std::nullopt;
  const std::string_view view(text);
  size_t megabytes = 0;
  const auto [end, failure] = std::from_chars(view.data(), view.data() + view.size(), megabytes);
  if (failure != std::errc() || end != view.data() + view.size()) return std::nullopt;
  return std::min(megabytes, kMaxBytes >> 20) << 20;
}

// The kernel would promise more than the machine has and end the process when it is touched.
size_t machine_memory() {
  const size_t granted = megabytes_in("EMPLACE_HOST_TENSOR_MB").value_or(kMaxBytes);
  struct sysinfo info;
  if (sysinfo(&info) != 0) return granted;
  return std::min((size_t{info.totalram} + info.totalswap) * info.mem_unit, granted);
}

size_t default_limit() {
  return megabytes_in("EMPLACE_HOST_CACHE_MB")
      .value_or(std::min(machine_memory() / 8, size_t{4} << 30));
}

// The lists that all threads share: one a class, each with a lock of its own.
class SharedLists {
 public:
  // Up to `want` blocks of class c, linked; `got` says how many.
  FreeBlock* take(size_t c, uint32_t want, uint32_t& got) {
    List& list = lists_[c];
    std::lock_guard lock(list.mutex);
    FreeBlock* first = list.head;
    FreeBlock** link = &list.head;
    for (got = 0; got < want && *link; ++got) link = &(*link)->next;
    list.head = *link;
    if (got > 0) *link = nullptr;
    cached_.fetch_sub(got * size_of_class(c), std::memory_order_relaxed);
    return got > 0 ? first : nullptr;
  }

  void give(size_t c, FreeBlock* block) {
    const size_t bytes = size_of_class(c);
    if (!make_room(bytes)) return release(c, block);
    cached_.fetch_add(bytes, std::memory_order_relaxed);
    List& list = lists_[c];
    std::lock_guard lock(list.mutex);
    block->next = list.head;
    list.head = block;
  }

  size_t trim() {
    size_t freed = 0;
    for (size_t c = 0; c < kNumClasses; ++c) freed += release_all(c);
    return freed;
  }

  void* acquire(size_t c) {
    const size_t bytes = size_of_class(c);
    if (bytes > machine_memory_ || !fits(bytes) || !may_hold(bytes)) return nullptr;
    void* block = system_alloc(bytes);
    if (!block && trim() > 0) block = system_alloc(bytes);
    if (block) allocs_.fetch_add(1, std::memory_order_relaxed);
    else held_.fetch_sub(bytes, std::memory_order_relaxed);
    return block;
  }

  void limit_memory(size_t bytes) { memory_limit_.store(bytes == 0 ? kMaxBytes : bytes); }
  HostMemory memory() const { return {held_.load(), limited() ? memory_limit_.load() : 0}; }
  bool limited() const { return memory_limit_.load(std::memory_order_relaxed) < kMaxBytes; }

  void set_limit(size_t bytes) {
    limit_.store(bytes, std::memory_order_relaxed);
    make_room(0);
  }

  HostCacheStats stats() const {
    return {limit_.load(), cached_.load(), allocs_.load(), frees_.load()};
  }

 private:
  struct alignas(64) List {
    std::mutex mutex;
    FreeBlock* head = nullptr;
  };

  // Counts them too.
  bool may_hold(size_t bytes) {
    const auto fits = [&] {
      if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= memory_limit_.load(std::memory_order_relaxed))
        return true;
      held_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    };
    return fits() || (trim() > 0 && fits());
  }

  // Looks only for large blocks: reading what is free costs some 50 µs, filling 64 MiB 10 ms.
  bool fits(size_t bytes) {
    if (bytes < size_t{64} << 20) return true;
    const auto roomy = [&] { return bytes <= free_memory().value_or(kMaxBytes); };
    return roomy() || (trim() > 0 && roomy());
  }

  static void* system_alloc(size_t bytes) {
    return bytes >= kHugePage ? map_huge(bytes) : std::aligned_alloc(kHostAlignment, bytes);
  }

  void release(size_t c, FreeBlock* block) {
    const size_t bytes = size_of_class(c);
    expose_only(block, bytes, bytes);
    frees_.fetch_add(1, std::memory_order_relaxed);
    held_.fetch_sub(bytes, std::memory_order_relaxed);
    if (bytes >= kHugePage) {
      munmap(block, bytes);
    } else {
      std::free(block);
    }
  }

  size_t release_all(size_t c) {
    uint32_t got = 0;
    FreeBlock* block = take(c, UINT32_MAX, got);
    while (block) release(c, std::exchange(block, block->next));
    return got * size_of_class(c);
  }

  // Pushes out larger blocks until `bytes` more fit; false when they never will.
  bool make_room(size_t bytes) {
    const size_t limit = limit_.load(std::memory_order_relaxed);
    if (cached_.load(std::memory_order_relaxed) + bytes <= limit) return true;
    if (bytes > limit) return false;
    for (size_t c = kNumClasses; c-- > 0;) {
      uint32_t got = 1;
      while (cached_.load(std::memory_order_relaxed) + bytes > limit && got > 0) {
        if (FreeBlock* block = take(c, 1, got)) release(c, block);
      }
    }
    return true;
  }

  const size_t machine_memory_ = machine_memory();
  std::array<List, kNumClasses> lists_;
  std::atomic<size_t> cached_{0};
  std::atomic<size_t> limit_{default_limit()};
  std::atomic<size_t> held_{0}, memory_limit_{kMaxBytes};
  std::atomic<uint64_t> allocs_{0}, frees_{0};
};

// Never destroyed: statics of the program may free tensors after ours are gone.
SharedLists& shared() {
  static SharedLists* const instance = new SharedLists;
  return *instance;
}

// What one thread keeps of the small classes.
struct ThreadLists {
  struct List {
    FreeBlock* head = nullptr;
    uint32_t count = 0;
    uint32_t limit = 0;
  };
  std::array<List, kNumThreadClasses> lists;

  ThreadLists() {
    for (size_t c = 0; c < kNumThreadClasses; ++c) {
      const size_t fit = kThreadClassBytes / size_of_class(c);
      lists[c].limit = static_cast<uint32_t>(std::clamp<size_t>(fit, 1, kThreadClassBlocks));
    }
  }

  void drain(size_t c, uint32_t down_to) {
    List& list = lists[c];
    while (list.count > down_to) {
      FreeBlock* block = std::exchange(list.head, list.head->next);
      --list.count;
      shared().give(c, block);
    }
  }

  size_t drain_all() {
    size_t bytes = 0;
    for (size_t c = 0; c < kNumThreadClasses; ++c) {
      bytes += lists[c].count * size_of_class(c);
      drain(c, 0);
    }
    return bytes;
  }
};

// A plain pointer, so that reaching it needs no guard and no call even in a shared library; it is
// null before the thread's first block and again once the thread ends.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadLists* own = nullptr;

constinit thread_local bool thread_ended = false;

// Gives a thread's blocks back when it ends.
struct ThreadEnd {
  ~ThreadEnd() {
    thread_ended = true;
    if (ThreadLists* lists = std::exchange(own, nullptr)) {
      lists->drain_all();
      delete lists;
    }
  }
};

ThreadLists* make_own() noexcept {
  if (thread_ended) return nullptr;
  thread_local ThreadEnd end;
  return own = new (std::nothrow) ThreadLists;
}

// Takes half a list's worth, so that the next allocations are quick too.
FreeBlock* refill(size_t c) noexcept {
  uint32_t got = 0;
  ThreadLists* mine = own ? own : make_own();
  const uint32_t want = mine ? mine->lists[c].limit / 2 + 1 : 1;
  FreeBlock* first = shared().take(c, want, got);
  if (!first) return static_cast<FreeBlock*>(shared().acquire(c));
  if (mine) {
    mine->lists[c].head = first->next;
    mine->lists[c].count = got - 1;
  }
  return first;
}

FreeBlock* take_shared(size_t c) noexcept {
  uint32_t got = 0;
  FreeBlock* block = shared().take(c, 1, got);
  return block ? block : static_cast<FreeBlock*>(shared().acquire(c));
}

FreeBlock* take_block(size_t c) noexcept {
  if (c >= kNumThreadClasses) return take_shared(c);
  if (ThreadLists* mine = own; mine && mine->lists[c].head) [[likely]] {
    auto& list = mine->lists[c];
    --list.count;
    return std::exchange(list.head, list.head->next);
  }
  return refill(c);
}

}  // namespace

void* try_host_alloc(size_t bytes) noexcept {
  if (bytes == 0 || bytes > kMaxBytes) return nullptr;
  const size_t c = class_of(bytes);
  FreeBlock* block = take_block(c);
  if (!block && shared().limited() && host_trim() > 0) block = take_block(c);  // what this thread keeps counts
  const size_t lines = (bytes + kHostAlignment - 1) & ~(kHostAlignment - 1);
  if (block) expose_only(block, lines, size_of_class(c));
  return block;
}

void* host_alloc(size_t bytes) {
  void* block = try_host_alloc(bytes);
  if (!block && bytes > 0) [[unlikely]] {
    throw resource_exhausted("OOM when allocating " + std::to_string(bytes) +
                             " bytes of host memory");
  }
  return block;
}

void host_free(void* pointer, size_t bytes) noexcept {
  if (!pointer) return;
  const size_t c = class_of(bytes);
  auto* block = static_cast<FreeBlock*>(pointer);
  expose_only(block, sizeof *block, size_of_class(c));
  ThreadLists* mine = own;
  if (c >= kNumThreadClasses || (!mine && !(mine = make_own()))) return shared().give(c, block);
  auto& list = mine->lists[c];
  if (list.count == list.limit) [[unlikely]]
    mine->drain(c, list.limit / 2);
  block->next = list.head;
  list.head = block;
  ++list.count;
}

size_t host_block_size(size_t bytes) { return bytes == 0 ? 0 : size_of_class(class_of(bytes)); }

size_t host_trim() noexcept {
  if (own) own->drain_all();
  return shared().trim();
}

void limit_host_memory(size_t bytes) noexcept {
  shared().limit_memory(std::min(bytes, kMaxBytes));
  if (shared().limited()) host_trim();
}

HostMemory host_memory() noexcept { return shared().memory(); }

void set_host_cache_limit(size_t bytes) noexcept { shared().set_limit(bytes); }

HostCacheStats host_cache_stats() noexcept { return shared().stats(); }

}  // namespace emplace
