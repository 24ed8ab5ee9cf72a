#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace emplace::cuda {

class CudaEvent;

// Host memory that the card can copy from and to by itself, kept for the next copy. Sizes are
// powers of two. Thread-safe.
class PinnedCache {
 public:
  ~PinnedCache();
  void* take(size_t bytes);
  void give_back(void* p, size_t bytes);
  void give_back(void* p, size_t bytes, std::unique_ptr<CudaEvent> after);  // when that has passed
  void trim();  // gives what is unused back to the system

 private:
  struct InUse {
    void* p;
    size_t size;
    std::unique_ptr<CudaEvent> until;
  };
  static size_t rounded(size_t bytes);
  void collect(bool wait);  // with the lock
  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;
  std::deque<InUse> in_use_;
};

}  // namespace emplace::cuda
