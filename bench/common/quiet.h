// Timing on machines that are never quite quiet.
//
// A round counts only if nothing else had the cores while it ran. Three witnesses must agree:
//   - the calling thread's wall and CPU time (for single-threaded work, which never blocks),
//   - the kernel's account of how long our runnable threads waited for a core,
//   - a loop of known length, run just before and just after the round.
// The third sees what the guest's kernel cannot: a hypervisor that took the core away, or gave its
// other hardware thread to somebody else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emplace::bench {

struct Round {
  double ns = 0;       // wall time of one repetition
  bool quiet = false;  // nothing else had the cores
};

// The lower quartile of the quiet rounds: what no witness sees (a neighbour who has the shared cache)
// only ever adds, half as much again in up to half of the rounds. `quiet == 0` means the machine was never quiet and `ns` is the
// best of the disturbed rounds, good only for a rough look.
struct Timing {
  double ns = 0;
  int quiet = 0;
  int rounds = 0;
};

// Times rounds. Not thread-safe: one clock, one measuring thread.
class QuietClock {
 public:
  QuietClock();

  // Runs `body` `repetitions` times. `threads` is how many threads the body keeps busy.
  Round time(const std::function<void()>& body, int repetitions, int threads);

 private:
  bool loop_undisturbed();

  double loop_ns_;  // the known loop at its best
};

double lower_quartile(std::vector<double> values);
Timing summarize(const std::vector<Round>& rounds);

// One thing to time: the clock interleaves several, so that a slow drift hits all alike.
struct Subject {
  std::function<void()> body;
  int repetitions = 1;
  int threads = 1;
  Timing timing;  // result
};

struct Patience {
  int wanted = 15;         // quiet rounds of each subject
  double seconds = 4;      // give up then, for all subjects together
};

void measure(QuietClock& clock, std::vector<Subject>& subjects, const Patience& patience);

// How often `body` must be repeated to fill a round of `target_ns`.
int repetitions_for(const std::function<void()>& body, double target_ns);

}  // namespace emplace::bench
