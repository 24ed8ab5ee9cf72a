#pragma once
#include <functional>

#include "base/function_ref.h"

namespace emplace {

// Whoever keeps device memory that only a later step will want. When a device runs short, all of
// them are asked to let it go, in whichever session they are. Any thread may ask.
class SpareMemory {
 public:
  // `let_go` gives back what nobody uses just now and returns how many steps are under way there,
  // which will give theirs back. It may be called at any time until this is destroyed.
  explicit SpareMemory(std::function<int()> let_go);
  ~SpareMemory();
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  // For a device whose memory is used up: calls `attempt` again and again while something is being
  // let go, or a step is under way that does not wait for memory itself; for ten seconds at most.
  // Null when nothing came of it.
  static void* find_room(FunctionRef<void*()> attempt);

 private:
  static int let_all_go();  // steps under way everywhere that do not wait for memory themselves

  const std::function<int()> let_go_;
};

}  // namespace emplace
