// The five graphs of the scheduler benchmark, the same bits everywhere: each carries a fingerprint
// of its edges, and a graph that came out otherwise is refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace emplace::bench {

// Nodes 0 … nodes-1; every edge goes from a smaller to a larger number, so the numbers themselves
// are an order in which the nodes may run.
struct TaskGraph {
  std::string name;
  uint32_t nodes = 0;
  std::vector<uint32_t> pred_begin;  // nodes + 1 offsets into preds
  std::vector<uint32_t> preds;
  std::vector<uint32_t> succ_begin;  // nodes + 1 offsets into succs
  std::vector<uint32_t> succs;       // ascending for each node

  std::span<const uint32_t> preds_of(uint32_t node) const {
    return std::span(preds).subspan(pred_begin[node], pred_begin[node + 1] - pred_begin[node]);
  }
  std::span<const uint32_t> succs_of(uint32_t node) const {
    return std::span(succs).subspan(succ_begin[node], succ_begin[node + 1] - succ_begin[node]);
  }
};

TaskGraph make_chain(uint32_t nodes);
TaskGraph make_wave(uint32_t rows, uint32_t columns);
TaskGraph make_random(uint32_t nodes);

// FNV-1a 64 over "i p\n" for every edge p -> i, i ascending, predecessors in the stated order.
uint64_t fingerprint(const TaskGraph& graph);

// The five graphs; throws std::runtime_error, naming the graph, when a fingerprint differs.
std::vector<TaskGraph> benchmark_graphs();

}  // namespace emplace::bench
