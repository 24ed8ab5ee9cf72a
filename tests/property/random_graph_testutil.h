#pragma once
#include <memory>
#include <string>
#include <vector>

#include "emplace/emplace.h"
#include "programs_testutil.h"
#include "random_values_testutil.h"

namespace emplace::testing {

struct RandomGraphOptions {
  int nodes = 40;                    // drawn from the catalogue
  std::vector<std::string> devices;  // pins to choose from
  std::string folder;                // for files
  const OpRegistry* ops = nullptr;   // to draw from
};

// A random graph, and what its nodes give: found by running each node by itself, on one CPU, on
// the values of its inputs, so that no plan of more than one node is behind it.
struct RandomGraph {
  struct Fetch {
    Output output;
    Tensor expected;
  };
  std::shared_ptr<Graph> graph;
  std::unique_ptr<Session> one_cpu;  // where the values were found
  Feeds feeds;
  std::vector<Node*> initializers;
  std::vector<Fetch> pure;      // may be run by many threads at once
  std::vector<Fetch> ordered;   // a step that changes variables; expected: of the first run, none
                                // of random numbers and of calls from the tables
  std::vector<Program> programs;  // may be run at once, each by one thread
  Node* counter = nullptr;      // a target that adds one to a variable
  Output count;                 // … its value
};

RandomGraph random_graph(uint64_t seed, const RandomGraphOptions& options);

// The reference: everything on /cpu:0 in the caller, pins give way.
SessionOptions one_cpu_options();

}  // namespace emplace::testing
