#pragma once
#include <cstdlib>

namespace emplace::testing {

// Virtual GPUs made meanwhile record nothing, as where the switch is off.
class WithoutRecording {
 public:
  WithoutRecording() { setenv("EMPLACE_VIRTUAL_RECORDING", "0", 1); }
  ~WithoutRecording() { unsetenv("EMPLACE_VIRTUAL_RECORDING"); }
};

template <class F>
auto without_recording(F f) {
  const WithoutRecording off;
  return f();
}

}  // namespace emplace::testing
