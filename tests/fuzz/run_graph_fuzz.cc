// Small imported graphs, run with a deadline.
#include "fuzz.h"

namespace {

constexpr size_t kMaxNodes = 50;
constexpr int64_t kDeadlineMs = 500;

// Files and endless work are not for strangers.
bool may_run(const emplace::Node& n) {
  for (const char* word : {"File", "Save", "Restore", "Checkpoint"})
    if (n.type().find(word) != std::string::npos) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view text) {
    Graph graph;
    import_graph_def_text(graph, text);
    if (graph.num_nodes() > kMaxNodes) return;
    std::vector<Output> fetches;
    for (Node* n : graph.nodes()) {
      if (!may_run(*n)) return;
      if (n->num_outputs() > 0) fetches.push_back(n->output());
    }
    if (fetches.empty()) return;
    SessionOptions options;
    options.virtual_gpus = 0;
    options.operation_timeout_in_ms = kDeadlineMs;
    options.inter_op_parallelism_threads = -1;
    Session(graph, options).run({}, fetches);
  });
}
