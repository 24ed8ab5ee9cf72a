#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emplace/eager.h"
#include "exec/step_graph.h"
#include "session/eager_tasks.h"

namespace emplace {

// A function whose operations, or the variables that it uses, may lie in other tasks. If all are of
// one task, that one runs it; if they are of several, operations are called one after another, each
// where it belongs. Any thread may call.
class SpreadFunction {
 public:
  SpreadFunction(Eager& eager, const EagerTasks& tasks, std::shared_ptr<Graph> graph,
                 Signature signature, std::string device, std::string random_scope)
      : eager_(eager),
        tasks_(tasks),
        graph_(std::move(graph)),
        signature_(std::move(signature)),
        device_(std::move(device)),
        random_scope_(std::move(random_scope)) {}

  // False when all of it is this task's.
  bool run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs);

 private:
  using Places = std::set<const RemoteTask*>;  // null: this one
  Places places(std::span<const Tensor> inputs);
  const Places& asked_for();
  void look_at(const Graph& graph, Places& found) const;
  const PreparedRemoteCall& prepared();

  Eager& eager_;
  const EagerTasks& tasks_;
  const std::shared_ptr<Graph> graph_;
  const Signature signature_;
  const std::string device_, random_scope_;
  std::mutex mutex_;
  std::optional<Places> asked_;
  std::unique_ptr<PreparedRemoteCall> prepared_;
};

}  // namespace emplace
