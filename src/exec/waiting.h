#pragma once
#include <string>
#include <vector>

namespace emplace {

// A call of a step under way that has begun and waits for something to happen: a value from another
// task, room in a queue, a lock.
struct WaitingCall {
  std::string node, op, device, source;
  std::string awaits, from;  // "an element of a queue"; of a receive "MatMul:0", and the device that sends it
  double seconds = 0;
};

}  // namespace emplace
