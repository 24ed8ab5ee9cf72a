#pragma once
#include <deque>

#include "exec/step_graph.h"

namespace emplace::testing {

// Puts step graphs together by hand. Every step is a kernel of a node of its own.
class StepGraphMaker {
 public:
  StepGraph g;

  // A step with one output of `elements` floats; -1: of unknown shape.
  int add(std::vector<Port> inputs, int64_t elements = 16, KernelTraits traits = {},
          Space space = kHostSpace) {
    return add_node(graph_.add("NoOp", {}), std::move(inputs), elements, traits, space);
  }
  int add_node(const Node* node, std::vector<Port> inputs, int64_t elements = 16,
               KernelTraits traits = {}, Space space = kHostSpace) {
    KernelRow row;
    row.traits = traits;
    rows_.push_back(row);
    Step s;
    s.node = node;
    s.name = &node->name();
    s.source = &node->source();
    s.row = &rows_.back();
    s.inputs = std::move(inputs);
    s.device_space = space;
    StepOutput out;
    out.dtype = DType::kFloat;
    out.space = space;
    out.shape = Shape{elements};
    s.outputs.push_back(out);
    g.steps.push_back(std::move(s));
    return static_cast<int>(g.steps.size()) - 1;
  }
  void order(int first, int then) { g.steps[then].controls.push_back(first); }
  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  std::deque<KernelRow> rows_;
};

}  // namespace emplace::testing
