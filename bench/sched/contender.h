// What runs a task graph: ours and the peers, all behind the same three calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/sched/graphs.h"

namespace emplace::bench {

// What a node does: one call through a function pointer.
struct Work {
  void (*fn)(void* context, uint32_t node) = nullptr;
  void* context = nullptr;
};

// One scheduler. `prepare` may take its time; `run` is what is measured: every node once, after
// all its predecessors, and back only when all are done. One thread calls both; graph and work
// outlive the contender.
class Contender {
 public:
  virtual ~Contender() = default;

  virtual std::string name() const = 0;
  // False for yardsticks that follow a fixed order or that no user could use as they are.
  virtual bool schedules() const = 0;
  virtual void prepare(const TaskGraph& graph, Work work, int workers) = 0;
  virtual void run() = 0;
  // For one that works on memory of its own: what is wrong with its last run, empty if nothing.
  virtual std::optional<std::string> own_proof() const { return std::nullopt; }
};

inline constexpr const char* kOneWorker = "one worker";  // ours, beside ours with several

std::unique_ptr<Contender> make_in_order();
std::unique_ptr<Contender> make_floor();
std::unique_ptr<Contender> make_tbb_flow_graph(bool lightweight);
std::unique_ptr<Contender> make_tbb_task_group();
std::unique_ptr<Contender> make_openmp_tasks();

}  // namespace emplace::bench
