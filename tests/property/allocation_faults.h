#pragma once
// Lets our allocations fail: `new` in all its forms and, but for sanitizers' builds, what tensors and arenas take
// from the system; not those that libraries below make. For one test only: what includes this replaces `new` for its
// whole program.
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace emplace::testing::faults {

constexpr int64_t kNever = INT64_MIN;
inline std::atomic<int64_t> left{kNever};  // until the first that fails
inline std::atomic<int64_t> first{0}, many{1};
inline std::atomic<int64_t> held{0};  // blocks from `new` that were not given back
inline std::atomic<bool> hit{false}, telling{false};

using Range = std::pair<uintptr_t, uintptr_t>;

// Where the code of libraries lies, but for the language's own.
inline const std::vector<Range>& libraries() {
  static const std::vector<Range> found = [] {
    std::vector<Range> all;
    const auto look = [](dl_phdr_info* info, size_t, void* to) {
      const std::string_view name = info->dlpi_name;
      for (const char* ours : {"libstdc++", "libc.so", "libgcc", "ld-linux", "libm.so", "san.so"})
        if (name.empty() || name.find(ours) != name.npos) return 0;
      for (int i = 0; i < info->dlpi_phnum; ++i)
        if (const auto& p = info->dlpi_phdr[i]; p.p_type == PT_LOAD)
          static_cast<std::vector<Range>*>(to)->push_back(
              {info->dlpi_addr + p.p_vaddr, info->dlpi_addr + p.p_vaddr + p.p_memsz});
      return 0;
    };
    dl_iterate_phdr(look, &all);
    void* frames[2];
    backtrace(frames, 2);  // takes memory the first time
    return all;
  }();
  return found;
}

// From now on the one with this number (from 0) fails, and so many behind it.
inline void arm(int64_t number, int64_t count) {
  libraries();
  hit = false, first = number, many = count;
  left = number;
}

// How many there were since.
inline int64_t disarm() { return first - left.exchange(kNever); }

inline bool asked_by_a_library() {
  void* frames[64];
  const int n = backtrace(frames, 64);
  for (int i = 0; i < n; ++i)
    for (const auto& [begin, end] : libraries())
      if (const auto at = reinterpret_cast<uintptr_t>(frames[i]); begin <= at && at < end)
        return true;
  return false;
}

inline bool fails() {
  if (left.load(std::memory_order_relaxed) == kNever) return false;
  const int64_t now = left.fetch_sub(1, std::memory_order_relaxed);
  if (now > 0 || now <= -many.load(std::memory_order_relaxed)) return false;
  if (asked_by_a_library()) return false;
  hit.store(true, std::memory_order_relaxed);
  if (telling.exchange(false)) {
    void* frames[40];
    backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
  }
  return true;
}

inline void* given(size_t bytes, size_t alignment) noexcept {
  if (fails()) return nullptr;
  void* block = nullptr;
  if (posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes ? bytes : 1) != 0)
    return nullptr;
  held.fetch_add(1, std::memory_order_relaxed);
  return block;
}

inline void* given_or_thrown(size_t bytes, size_t alignment) {
  if (void* block = given(bytes, alignment)) return block;
  throw std::bad_alloc();
}

inline void take_back(void* block) noexcept {
  if (!block) return;
  held.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

}  // namespace emplace::testing::faults

namespace faults = emplace::testing::faults;

constexpr size_t kPlain = alignof(std::max_align_t);
using Align = std::align_val_t;

void* operator new(size_t n) { return faults::given_or_thrown(n, kPlain); }
void* operator new[](size_t n) { return faults::given_or_thrown(n, kPlain); }
void* operator new(size_t n, Align a) { return faults::given_or_thrown(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, Align a) { return faults::given_or_thrown(n, static_cast<size_t>(a)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return faults::given(n, kPlain); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return faults::given(n, kPlain); }
void* operator new(size_t n, Align a, const std::nothrow_t&) noexcept {
  return faults::given(n, static_cast<size_t>(a));
}
void* operator new[](size_t n, Align a, const std::nothrow_t&) noexcept {
  return faults::given(n, static_cast<size_t>(a));
}
void operator delete(void* p) noexcept { faults::take_back(p); }
void operator delete[](void* p) noexcept { faults::take_back(p); }
void operator delete(void* p, size_t) noexcept { faults::take_back(p); }
void operator delete[](void* p, size_t) noexcept { faults::take_back(p); }
void operator delete(void* p, Align) noexcept { faults::take_back(p); }
void operator delete[](void* p, Align) noexcept { faults::take_back(p); }
void operator delete(void* p, size_t, Align) noexcept { faults::take_back(p); }
void operator delete[](void* p, size_t, Align) noexcept { faults::take_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { faults::take_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { faults::take_back(p); }
void operator delete(void* p, Align, const std::nothrow_t&) noexcept { faults::take_back(p); }
void operator delete[](void* p, Align, const std::nothrow_t&) noexcept { faults::take_back(p); }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// What tensors on the host, and virtual GPUs, take.
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  if (faults::fails()) return errno = ENOMEM, nullptr;
  return memalign(alignment, bytes);
}

extern "C" void* mmap(void* at, size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  if (file < 0 && faults::fails()) return errno = ENOMEM, MAP_FAILED;
  const long got = syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
  return reinterpret_cast<void*>(got);
}
#endif
