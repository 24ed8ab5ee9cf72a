#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "kernel/kernel.h"
#include "op/op_def.h"

namespace emplace::testing {

// Ops that show which rounds of a loop are under way. None is stateful: a loop may take them for pure.
//   Ticket(x: float, mine: int32, other: int32) -> (y: float)   says that `mine` is here and waits until
//                                                               `other` is; below 0: for nobody
//   ComeIn(x: float, after: int32) -> (y: float)                one more is inside
//   GoOut(x: float) -> (y: float)                               one less is inside
//   Doze(x: float, after: int32) -> (y: float)                  hands x on after two milliseconds
//   FailAt(x: float, round: int32) -> (y: float) | when: int    throws in one round
//   NeverReady(x: float, round: int32) -> (y: float) | when: int  suspends until cancelled, in one round
void add_round_ops(OpRegistry& r);
void add_round_kernels(KernelRegistry& r, const char* device);

// Where Ticket, ComeIn and GoOut meet.
struct Hall {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int32_t> tickets;
  int inside = 0, most = 0;
  std::chrono::milliseconds patience{};
};
Hall& hall();
void open_hall(std::chrono::milliseconds patience);  // empty

}  // namespace emplace::testing
