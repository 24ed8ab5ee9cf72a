#pragma once
#include <optional>
#include <span>
#include <vector>

#include "placement/search/core_pool.h"
#include "placement/search/problem.h"

namespace emplace::planning {

// One step, event by event, under both models of the links; devices of one pool share its cores. With an order each device takes its
// nodes in that order; with priorities the ready node of the highest goes first and no device waits
// by choice. Keeps its buffers: one object, many runs. The reference for every list schedule.
class ListSimulation {
 public:
  explicit ListSimulation(const Problem& problem);

  // The end of the step; nothing where the order can't run.
  std::optional<double> in_order(std::span<const int> where, std::span<const int> order);
  double by_priority(std::span<const int> where, std::span<const double> priority);

  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& finish() const { return finish_; }

  // A copy of a node's output to another device.
  struct Transfer {
    int node, output, to;
    double bytes, start, end;
  };
  // From now on runs note the copies that they make.
  void keep_transfers() { keep_transfers_ = true; }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  // The nodes by start: an order that gives the same run again.
  std::vector<int> order_by_start() const;

 private:
  struct Event {
    double time;
    int rank;  // ties: producers in topological order, ends before arrivals
    int from, count;  // arrivals: a span of arriving_; an end: the node, -1; a pool's next end:
                      // the pool, -2
    int version = 0;  // of the pool: of an earlier one it is void
    bool operator>(const Event& o) const {
      if (time != o.time) return time > o.time;
      if (rank != o.rank) return rank > o.rank;
      return (count >= 0) > (o.count >= 0);
    }
  };
  void reset(std::span<const int> where);
  std::optional<double> run();
  void arrive(int node);
  void dispatch(double now);
  void start(int node, int device, double now);
  void end(int node, double now);
  void next_end_of(int pool, double now);
  bool void_event(const Event& e) const;
  void send_serially(int node, double now);
  void send_freely(int node, double now);
  void note_free(int node, const Arc& a, double now, double end);
  void push(Event e);

  const Problem& p_;
  const int* where_ = nullptr;
  const double* priority_ = nullptr;  // none: in order
  std::vector<int> waiting_, busy_;
  std::vector<char> ready_flag_;
  std::vector<std::vector<int>> queue_;  // by device: to do, next last; or a heap of ready nodes
  std::vector<char> touched_;
  std::vector<int> touched_list_;
  std::vector<double> start_, finish_, channel_free_;
  std::vector<Event> events_;
  std::vector<int> arriving_;
  struct Away {
    int device, output, arc;  // one transfer for each device and output
    auto operator<=>(const Away&) const = default;
  };
  std::vector<Away> away_;  // of one node
  std::vector<CorePool> pools_;
  std::vector<Transfer> transfers_;
  bool keep_transfers_ = false;
  int ended_ = 0;
};

// Longest remaining path of each node under a placement, transfers included.
std::vector<double> bottom_levels(const Problem& p, std::span<const int> where);

}  // namespace emplace::planning
