// Random graphs whose nodes are on random tasks of a cluster in this process give the bits of one
// CPU. EMPLACE_TEST_FULL=1: 5,000 graphs; EMPLACE_TEST_SEED=N: that one
// (EMPLACE_TEST_COUNT=M: and those that follow).
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cluster/cluster_testutil.h"
#include "exec/prune.h"
#include "graph/graph_def.h"
#include "op/op_def.h"
#include "random_graph_testutil.h"

namespace emplace::testing {
namespace {

constexpr int kTasks = 3;
const std::vector<std::string> kDevices = {"/cpu:0", "/gpu:0"};

bool stays(const Node& n) {
  const auto tied = [](const Output& o) {
    return o.is_ref() || o.dtype() == DType::kResource || o.dtype() == DType::kVariant;
  };
  for (const Output& in : n.inputs())
    if (tied(in)) return true;
  for (int i = 0; i < n.num_outputs(); ++i)
    if (n.output_is_ref(i) || n.output_type(i) == DType::kResource ||
        n.output_type(i) == DType::kVariant)
      return true;
  return false;
}

// What can be on another task than its neighbours.
std::vector<Node*> free_nodes(const Graph& graph) {
  std::vector<Node*> result;
  for (Node* n : needed_nodes(graph.nodes(), {}))
    if (!stays(*n)) result.push_back(n);
  return result;
}

void scatter(const RandomGraph& g, uint64_t seed) {
  Random r(seed);
  for (Node* n : free_nodes(*g.graph)) {
    const int task = static_cast<int>(r.below(kTasks + 1));
    if (task < kTasks)
      g.graph->set_device(n, "/job:worker/task:" + std::to_string(task) + n->device());
  }
}

std::string check(uint64_t seed, const std::string& folder) {
  RandomGraphOptions options;
  options.devices = kDevices;
  options.folder = folder;
  options.ops = &op_catalogue();
  const RandomGraph g = random_graph(seed, options);
  scatter(g, seed);
  Tasks tasks(kTasks, 1);
  SessionOptions soft;
  soft.allow_soft_placement = true;
  const auto session = tasks.session(*g.graph, static_cast<int>(seed % kTasks), soft);
  run(*session, {}, {}, g.initializers);
  std::vector<Output> fetches;
  for (const auto& f : g.pure) fetches.push_back(f.output);
  for (int round = 0; round < 2; ++round) {
    const auto got = run(*session, fetches, g.feeds, {}, 20'000);
    for (size_t i = 0; i < got.size(); ++i)
      if (g.pure[i].expected.has_value() && !same_bits(g.pure[i].expected, got[i]))
        return fetches[i].node->definition() + "\n  expected " + describe(g.pure[i].expected) +
               "\n  got      " + describe(got[i]);
  }
  return "";
}

TEST(RandomTasks, GiveTheBitsOfOneProcess) {
  const google::protobuf::LogSilencer quiet;  // random texts are not always UTF-8
  const std::string folder =
      std::filesystem::temp_directory_path() / ("random_tasks_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  uint64_t first = 1, count = std::getenv("EMPLACE_TEST_FULL") ? 5000 : 500;
#ifdef __SANITIZE_THREAD__
  count = 200;  // some graph behind these fills more memory than its shadow leaves
#endif
  if (const char* seed = std::getenv("EMPLACE_TEST_SEED")) first = std::stoull(seed), count = 1;
  if (const char* more = std::getenv("EMPLACE_TEST_COUNT")) count = std::stoull(more);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::string wrong;
    try {
      wrong = check(seed, folder);
    } catch (const Error& e) {
      wrong = std::string(e.what()) + " (node " + e.node() + ")";
    }
    ASSERT_EQ(wrong, "") << "EMPLACE_TEST_SEED=" << seed;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace emplace::testing
