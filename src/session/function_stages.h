#pragma once
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "emplace/eager.h"
#include "exec/step_graph.h"
#include "session/eager_tasks.h"

namespace emplace {

// A graph whose operations are of several tasks, cut into parts, each of one task and run there as
// one call. Parts come in an order in which each has what it needs; a call of a function that
// itself is of several tasks is a part of its own, for whoever runs the parts. Immutable.
class FunctionStages {
 public:
  struct Stage {
    std::vector<Output> inputs, outputs;        // of the whole graph
    std::unique_ptr<PreparedRemoteCall> there;  // one of these three
    std::shared_ptr<EagerFunction> here;
    const Node* spread = nullptr;
  };
  struct Request {
    Eager& eager;
    const EagerTasks& tasks;
    const Graph& library;  // whose functions the graph calls
    std::string device;    // of operations that ask for none
    std::string random_scope;
    std::vector<Output> given, wanted;
    std::vector<const RemoteTask*> lie_in;  // of each that is given, if it is a resource: where
    std::span<Node* const> effects;
  };
  explicit FunctionStages(const Request& request);
  std::span<const Stage> stages() const { return stages_; }

 private:
  std::vector<Stage> stages_;
};

// The tasks that a graph's operations ask for, given the task around them; null: this one.
void look_for_tasks(const Graph& graph, const EagerTasks& tasks, const DeviceName& outer,
                    std::set<const RemoteTask*>& found);

}  // namespace emplace
