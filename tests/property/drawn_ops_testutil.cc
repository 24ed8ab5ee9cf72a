#include "drawn_ops_testutil.h"

#include "stdops/datasets.h"

namespace emplace::testing {
namespace {

class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph) {}

  void behind(Node* n) {
    if (!seen_.insert(n).second) return;
    note(*n);
    for (const Output& in : n->inputs()) behind(in.node);
    for (Node* before : n->control_inputs()) behind(before);
  }

  std::set<std::string> ops;

 private:
  void note(const Node& n) {
    ops.insert(n.type());
    for (const auto& [name, value] : n.attrs()) {
      if (value.is<FunctionName>()) within(value.as<FunctionName>().name);
      if (value.is<std::vector<FunctionName>>())
        for (const FunctionName& f : value.as<std::vector<FunctionName>>()) within(f.name);
    }
  }

  void within(const std::string& function) {
    const auto f = graph_.find_function(function);
    if (!f || !called_.insert(function).second) return;
    for (const Node* n : f->body->nodes()) note(*n);
  }

  const Graph& graph_;
  std::set<Node*> seen_;
  std::set<std::string> called_;
};

}  // namespace

std::set<std::string> drawn_ops(const RandomGraph& g) {
  Walk walk(*g.graph);
  for (const auto* fetches : {&g.pure, &g.ordered})
    for (const auto& f : *fetches) walk.behind(f.output.node);
  for (Node* n : g.initializers) walk.behind(n);
  for (const Program& p : g.programs)
    for (const auto& step : p.steps()) {
      for (const Output& o : step.fetches) walk.behind(o.node);
      for (Node* n : step.targets) walk.behind(n);
    }
  return walk.ops;
}

const std::map<std::string, std::string>& never_drawn() {
  const char* const kNoKernel = "has no kernel, in TensorFlow neither";
  const char* const kHandle = "has a handle that names the device";
  const char* const kGpusOnly = "runs on GPUs alone";
  const char* const kBetweenTasks = "stands where a graph was cut by task: random_tasks_test";
  static const std::map<std::string, std::string> reasons = {
      {"BatchFFT", kGpusOnly},
      {"BatchFFT2D", kGpusOnly},
      {"BatchFFT3D", kGpusOnly},
      {"BatchIFFT", kGpusOnly},
      {"BatchIFFT2D", kGpusOnly},
      {"BatchIFFT3D", kGpusOnly},
      {"DeleteSessionTensor", kHandle},
      {"DeviceIndex", "answers where it runs"},
      {"EagerPyFunc", "calls Python"},
      {"FixedLengthRecordReader", "never finds its own attributes, in TensorFlow neither"},
      {"GetSessionHandle", kHandle},
      {"GetSessionTensor", kHandle},
      {"MatrixExponential", kNoKernel},
      {"MutableDenseHashTable", "is refused each time, in TensorFlow too"},
      {"PyFunc", "calls Python"},
      {"PyFuncStateless", "calls Python"},
      {"RandomCrop", kNoKernel},
      {"TileGrad", kNoKernel},
      {"_CheckedPath", "stands in what others ask servers to run"},
      {"_Recv", kBetweenTasks},
      {"_Retval", "stands in functions only"},
      {"_Send", kBetweenTasks},
  };
  return reasons;
}

bool stands_in_pipelines(const std::string& op) {
  using namespace stdops;
  for (const auto rows : {dataset_source_ops(), dataset_ops(), iterator_ops()})
    for (const OpRow& row : rows)
      if (std::string_view(row.signature).starts_with(op + "(")) return true;
  return false;
}

}  // namespace emplace::testing
