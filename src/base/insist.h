#pragma once
#include <chrono>
#include <new>
#include <thread>

#include "base/host_cache.h"

namespace emplace {

// Calls f again until it has its memory: for the few bytes without which a step that is under way could neither
// go on nor end. Whatever may fail instead, should.
template <class F>
auto insist(F f) {
  for (;;) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      host_trim();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace emplace
