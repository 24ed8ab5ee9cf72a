// Emplace among the contenders, and what only an engine does: placing and planning.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/common/quiet.h"
#include "bench/sched/contender.h"

namespace emplace::bench {

// The graph as empty operations with control edges, run through a prepared callable with one feed
// and one fetch. Each is a kernel of a custom op, called as any other kernel.
std::unique_ptr<Contender> make_emplace();
// The same with one worker, however many it is offered: a yardstick for two in the same rounds.
std::unique_ptr<Contender> make_emplace_alone();

// A chain of ordinary AddV2 operations over rows of `floats`, from a feed to a fetch; it proves
// its sums itself, since it writes to memory of its own.
std::unique_ptr<Contender> make_emplace_adds(uint32_t floats);

// Two runs of a random graph of `nodes` additions in a fresh session: the first places and plans it,
// the second finds that done. With `gpus` its nodes are spread over two virtual GPUs.
struct FirstRuns {
  Round first, second;
};
FirstRuns time_first_runs(QuietClock& clock, uint32_t nodes, bool gpus);

}  // namespace emplace::bench
