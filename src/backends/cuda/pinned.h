#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace emplace::cuda {

// Host memory that the card can copy from and to by itself, kept for the next copy. Sizes are
// powers of two. Thread-safe.
class PinnedCache {
 public:
  ~PinnedCache();
  void* take(size_t bytes);
  void give_back(void* p, size_t bytes);
  void trim();  // gives what is unused back to the system

 private:
  static size_t rounded(size_t bytes);
  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
};

}  // namespace emplace::cuda
