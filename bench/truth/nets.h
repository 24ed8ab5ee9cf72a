#pragma once
#include <memory>
#include <string>
#include <vector>

#include "emplace/emplace.h"

namespace emplace::bench {

// A network as a graph with a step to run, small enough for two cores.
struct Net {
  std::string name;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Output> feeds, fetches;
  std::vector<Tensor> values;  // of the feeds
  std::vector<int> block;      // by node id: layers, or branches, that belong together
  int blocks = 0;
};

// An MLP and a convolution net with their gradients, an LSTM, ResNet-50, BERT, eight branches.
std::vector<Net> nets();

}  // namespace emplace::bench
