#pragma once

#include <cstddef>
#include <vector>

#include "base/host_cache.h"

namespace emplace {

// Takes memory from the host cache: large blocks are huge pages, and come back without a page fault
// when they are wanted again.
template <class T>
struct HostAllocator {
  using value_type = T;
  static_assert(alignof(T) <= kHostAlignment);

  HostAllocator() = default;
  template <class U>
  HostAllocator(const HostAllocator<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(host_alloc(count * sizeof(T))); }
  void deallocate(T* block, size_t count) noexcept { host_free(block, count * sizeof(T)); }
  bool operator==(const HostAllocator&) const = default;
};

// For the large arrays of a plan.
template <class T>
using HostVector = std::vector<T, HostAllocator<T>>;

}  // namespace emplace
