#pragma once
#include <cstdint>

#include "emplace/plan.h"
#include "placement/search/budget.h"

// Cost graphs of every kind, from random numbers that are the same everywhere.
namespace emplace::bench {

// Layers of tasks with whole times on 2 to 8 alike devices; edges carry about `ratio` times what a
// task takes.
CostGraph layered(planning::Random& random, int nodes, double ratio);

// A schedule without gaps up to one end on each device: the end is the optimum. Edges join what
// ends to what starts later, mostly soon after.
struct Built {
  CostGraph graph;
  double optimum = 0;
};
Built without_gaps(planning::Random& random, int nodes, int devices);

// The tasks of a tiled factorisation of a matrix of `tiles` × `tiles` tiles, on CPUs and GPUs that
// differ by kernel.
enum class Tiled : uint8_t { kCholesky, kLu, kQr };
CostGraph tiled(planning::Random& random, Tiled kind, int tiles);

// A network of blocks with branches on GPUs and a CPU ten times slower: a training step, whose
// backward nodes go with their forward ones, a pipeline, or one sample. `room`: what all GPUs can
// hold over what the network keeps.
CostGraph network(planning::Random& random, PlanModel model, int blocks, int gpus, double room);

}  // namespace emplace::bench
