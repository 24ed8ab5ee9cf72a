#pragma once
#include <map>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emplace/eager.h"
#include "exec/step_graph.h"
#include "session/eager_tasks.h"
#include "session/function_stages.h"

namespace emplace {

// A function whose operations, or the variables that it uses, may lie in other tasks. If all are of
// one task, that one runs it; if they are of several, it is cut into parts, which are run one after
// another, each where it belongs; of branches and loops over several tasks each round. Any thread
// may call.
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
  // A graph to be evaluated: the function's own, or one that it calls.
  struct Body {
    std::string name;  // of the function; "": its own
    std::vector<Output> given, wanted;
    std::span<Node* const> effects;
  };
  Places places(std::span<const Tensor> inputs);
  const Places& asked_for();
  const PreparedRemoteCall& prepared();
  const FunctionStages& stages(const Body& body, std::span<const Tensor> values,
                               const std::string& device);
  std::vector<Tensor> evaluate(const Body& body, std::span<const Tensor> values,
                               const std::string& device);
  std::vector<Tensor> run_spread(const Node& n, std::vector<Tensor> inputs,
                                 const std::string& device);
  std::vector<Tensor> call(const Node& n, const char* attr, std::span<const Tensor> inputs,
                           const std::string& device);
  std::vector<Tensor> call(const FunctionName& name, std::span<const Tensor> inputs,
                           const std::string& device);
  bool truth(const Tensor& t);

  Eager& eager_;
  const EagerTasks& tasks_;
  const std::shared_ptr<Graph> graph_;
  const Signature signature_;
  const std::string device_, random_scope_;
  std::mutex mutex_;
  std::optional<Places> asked_;
  std::unique_ptr<PreparedRemoteCall> prepared_;
  // By function, device around it, and where its resources lie.
  std::map<std::tuple<std::string, std::string, std::vector<const RemoteTask*>>,
           std::unique_ptr<FunctionStages>>
      stages_;
};

}  // namespace emplace
