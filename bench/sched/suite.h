// The cases of `bench/run sched`: each one graph, one kind of work, one number of workers, and all
// contenders timed against each other in the same rounds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/quiet.h"
#include "bench/common/rows.h"
#include "bench/sched/contender.h"
#include "bench/sched/work.h"

namespace emplace::bench {

struct Case {
  std::string name;  // without the number of workers
  const TaskGraph* graph = nullptr;
  std::function<std::unique_ptr<Workload>()> workload;
  int workers = 1;
  bool whole_runs = false;  // µs a run, otherwise ns a node
  std::vector<std::unique_ptr<Contender>> peers;
  std::unique_ptr<Contender> ours;  // may be absent
  Patience patience;
};

std::string row_name(const std::string& case_name, int workers);

// Runs every contender a few times and checks the result, then times them all. Throws
// std::runtime_error, naming the contender, when a node did not run as often as it should have.
Row run_case(QuietClock& clock, Case& work);

// Speed-up from one worker to two, out of the rows of both.
Row gain_row(const std::string& case_name, const Row& one, const Row& two);

}  // namespace emplace::bench
