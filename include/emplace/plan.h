#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/export.h"

namespace emplace {

// A cost graph: what each node costs on each device, what each edge carries, and what the links
// between the devices do. Plain data: nothing of an op or a kernel is known here.
struct CostDevice {
  std::string name, type;
  std::optional<double> memory;  // bytes; none: unlimited
  std::optional<int> slots = 1;  // nodes that run at once; none: any number
};

struct CostLink {
  double latency_s = 0;
  double bytes_per_s = 1;
  std::string channel = {};  // pairs of one channel share it; empty: the pair has its own
};

struct CostLinkPair {
  int src = 0, dst = 0;  // devices
  CostLink link;
};

struct CostNode {
  std::string name;
  // Seconds by device name or type; a name beats a type. Neither: no kernel for it there.
  std::vector<std::pair<std::string, double>> time;
  double memory = 0;     // bytes that it keeps on its device
  std::string pin = {};  // a device; empty: any
  int group = -1;        // nodes of one group share a device; -1: none
};

struct CostEdge {
  int src = 0, dst = 0;  // nodes
  double bytes = 0;
};

// What a plan is worth: the end of one step of a list schedule, the load of a pipeline's fullest
// device, or the end of one sample through calls of accelerators.
enum class PlanModel : uint8_t { kList, kMaxLoad, kCalls };

struct CostGraph {
  std::string name;
  PlanModel model = PlanModel::kList;
  bool serial_links = false;  // list: a link carries one transfer at a time
  bool through_host = false;  // between accelerators a transfer goes through the host's memory
  std::vector<CostDevice> devices;
  CostLink default_link;
  std::vector<CostLinkPair> links;
  std::vector<CostNode> nodes;
  std::vector<std::string> groups;  // names
  std::vector<CostEdge> edges;
};

// How long to search. Without either limit a budget that suits size and model is taken. With a
// limit of evaluations alone the plan is the same on every machine.
struct PlanOptions {
  std::optional<double> budget_ms;
  std::optional<int64_t> evaluations;
  uint64_t seed = 1;
  double spent_ms = 0;  // of the budget, before the call
};

struct Plan {
  std::vector<int> device;  // of each node
  std::vector<int> order;   // list: every node; each device takes its own in this order
  std::vector<int> call;    // calls: the number of each node's call on its device
  double value = 0;         // seconds
  double bound = 0;         // no plan is better than this
  bool optimal = false;     // proven
  std::string found_by;     // the method that gave the first form of it
  int64_t evaluations = 0;
  double first_ms = 0, total_ms = 0;  // till the first plan; till the end
};

// Where each node of a cost graph should run, and in which order: heuristics side by side, then a
// search, with proof where the graph is small. Pins, groups, kernels and memory always hold. Throws
// InvalidArgument where the graph is at fault, ResourceExhausted where no device has room, naming
// the nodes and the bytes that are missing.
EMPLACE_API Plan plan(const CostGraph& graph, const PlanOptions& options = {});

// The value of a plan by simulation of its decisions alone: `device`, and `order` or `call` where
// not empty. Throws InvalidArgument where it breaks a rule of the graph.
EMPLACE_API double plan_value(const CostGraph& graph, const Plan& plan);

// "optimal", "within 1.7 % of the optimum", or nothing where no bound says more than twice.
EMPLACE_API std::string plan_quality(const Plan& plan);

}  // namespace emplace
