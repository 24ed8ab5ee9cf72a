#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "emplace/plan.h"

namespace emplace::planning {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An edge as one of its ends sees it.
struct Arc {
  int node;  // at the other end
  int edge;
};

// A cost graph in the form the search reads: indices, flat tables, checked once. Nodes of a
// colocation group are one unit; units are what is moved between devices.
class Problem {
 public:
  explicit Problem(const CostGraph& graph);  // throws InvalidArgument

  const CostGraph& graph;
  int nodes = 0, devices = 0, units = 0;

  double time(int node, int device) const { return time_[size_t(node) * devices + device]; }
  std::span<const Arc> succ(int node) const { return row(succ_, succ_at_, node); }
  std::span<const Arc> pred(int node) const { return row(pred_, pred_at_, node); }
  std::span<const int> members(int unit) const { return row(members_, member_at_, unit); }
  std::span<const int> allowed(int unit) const { return row(allowed_, allowed_at_, unit); }
  bool may(int unit, int device) const { return may_[size_t(unit) * devices + device]; }

  // Seconds to bring an edge's bytes from one device to another.
  double transfer(int edge, int from, int to) const {
    const int c = link_class[size_t(from) * devices + to];
    if (c < 0) return 0;
    return cost_.empty() ? transfer_bytes(graph.edges[edge].bytes, c)
                         : cost_[size_t(c) * graph.edges.size() + edge];
  }
  double transfer_bytes(double bytes, int link_class) const;
  // Whether `bytes` fit a device. Where sizes are fractions, sums are not exact: a hair is kept.
  bool fits(int device, double bytes) const { return bytes <= room[device]; }

  std::vector<int> unit_of;          // by node
  std::vector<double> unit_memory;
  std::vector<double> room;          // by device: bytes, infinity without a limit
  std::vector<int> slots;            // by device; 0: any number
  std::vector<char> is_cpu;          // by device
  std::vector<int> pool;             // by device: whose cores it shares; -1: its own
  std::vector<double> pool_cores;    // by pool
  std::vector<double> most_cores;    // by device: that it can use of its pool
  std::vector<int> link_class;       // by pair of devices; -1: nothing to pay
  std::vector<int> channel;          // by pair of devices: transfers of one channel take turns
  std::vector<int> topo, rank;       // node order; position of each node in it
  std::vector<double> host_cost;     // by node: its largest output to or from the host's memory
  std::vector<double> min_time;      // by node, over the devices it may take
  std::vector<double> min_transfer;  // by edge, over pairs of different devices
  std::vector<int> twin;             // by device: the first device that is just like it
  double grain = 0;                  // every time is a multiple of it; 0: no such number was found
  bool one_slot = true;              // every device runs one node at a time, or any number
  bool limited = false;              // some device's memory has a limit

  // The least multiple of the grain that is not less.
  double round_up(double bound) const;

 private:
  template <typename T>
  static std::span<const T> row(const std::vector<T>& all, const std::vector<int>& at, int i) {
    return {all.data() + at[i], size_t(at[i + 1] - at[i])};
  }
  void read_pools();
  void read_times();
  void read_edges();
  void sort_nodes();
  void read_links();
  void make_units();
  void allow_devices();
  void find_twins();
  bool alike(int a, int b) const;
  void find_grain();

  std::vector<double> time_;
  std::vector<Arc> succ_, pred_;
  std::vector<int> succ_at_, pred_at_;
  std::vector<int> members_, member_at_, allowed_, allowed_at_;
  std::vector<char> may_;
  std::vector<double> cost_;  // by link class and edge; empty where that would be large
  struct LinkClass {
    double latency, rate;
    int times;  // 2: out to the host and in again
  };
  std::vector<LinkClass> classes_;
};

}  // namespace emplace::planning
