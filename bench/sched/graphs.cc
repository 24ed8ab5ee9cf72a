#include "bench/sched/graphs.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace emplace::bench {
namespace {

// splitmix64, state 1 at the start of each graph.
class Draws {
 public:
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_ = 1;
};

TaskGraph from_preds(std::string name, const std::vector<std::vector<uint32_t>>& preds) {
  TaskGraph graph;
  graph.name = std::move(name);
  graph.nodes = static_cast<uint32_t>(preds.size());
  std::vector<std::vector<uint32_t>> succs(graph.nodes);
  for (uint32_t node = 0; node < graph.nodes; ++node) {
    graph.pred_begin.push_back(static_cast<uint32_t>(graph.preds.size()));
    graph.preds.insert(graph.preds.end(), preds[node].begin(), preds[node].end());
    for (const uint32_t pred : preds[node]) succs[pred].push_back(node);
  }
  graph.pred_begin.push_back(static_cast<uint32_t>(graph.preds.size()));
  for (const std::vector<uint32_t>& of_node : succs) {
    graph.succ_begin.push_back(static_cast<uint32_t>(graph.succs.size()));
    graph.succs.insert(graph.succs.end(), of_node.begin(), of_node.end());
  }
  graph.succ_begin.push_back(static_cast<uint32_t>(graph.succs.size()));
  return graph;
}

TaskGraph checked(TaskGraph graph, uint64_t expected) {
  const uint64_t found = fingerprint(graph);
  if (found == expected) return graph;
  char text[160];
  std::snprintf(text, sizeof text, "graph %s has fingerprint %016llx, expected %016llx",
                graph.name.c_str(), static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(expected));
  throw std::runtime_error(text);
}

}  // namespace

TaskGraph make_chain(uint32_t nodes) {
  std::vector<std::vector<uint32_t>> preds(nodes);
  for (uint32_t i = 1; i < nodes; ++i) preds[i] = {i - 1};
  return from_preds("chain-" + std::to_string(nodes), preds);
}

TaskGraph make_wave(uint32_t rows, uint32_t columns) {
  std::vector<std::vector<uint32_t>> preds(rows * columns);
  for (uint32_t i = 0; i < rows * columns; ++i) {
    if (i >= columns) preds[i].push_back(i - columns);
    if (i % columns != 0) preds[i].push_back(i - 1);
  }
  return from_preds("wave-" + std::to_string(rows) + "x" + std::to_string(columns), preds);
}

TaskGraph make_random(uint32_t nodes) {
  constexpr uint32_t kWindow = 64;
  constexpr int kDraws = 4;
  Draws draws;
  std::vector<std::vector<uint32_t>> preds(nodes);
  for (uint32_t i = 1; i < nodes; ++i) {
    const uint64_t window = std::min(i, kWindow);
    for (int k = 0; k < kDraws; ++k) {
      const uint32_t pred = i - 1 - static_cast<uint32_t>(draws.next() % window);
      if (std::ranges::find(preds[i], pred) == preds[i].end()) preds[i].push_back(pred);
    }
  }
  return from_preds("random-" + std::to_string(nodes), preds);
}

uint64_t fingerprint(const TaskGraph& graph) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (uint32_t node = 0; node < graph.nodes; ++node) {
    for (const uint32_t pred : graph.preds_of(node)) {
      for (const char c : std::to_string(node) + " " + std::to_string(pred) + "\n") {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
      }
    }
  }
  return hash;
}

std::vector<TaskGraph> benchmark_graphs() {
  std::vector<TaskGraph> graphs;
  graphs.push_back(checked(make_chain(100'000), 0x18e00b2aeca2d91c));
  graphs.push_back(checked(make_wave(256, 256), 0x90543bec014248c1));
  graphs.push_back(checked(make_random(65'536), 0x915a2c6c3602bab6));
  graphs.push_back(checked(make_chain(32), 0xe5f958acce046f97));
  graphs.push_back(checked(make_random(32), 0x2de9c8aabf3e1ed3));
  return graphs;
}

}  // namespace emplace::bench
