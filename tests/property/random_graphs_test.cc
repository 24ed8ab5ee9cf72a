// Random graphs with random pins, run by four threads on CPUs, core sets and virtual GPUs, give the
// bits of a run on one CPU. EMPLACE_TEST_FULL=1: 2,000 graphs; EMPLACE_TEST_SEED=N: that one
// (EMPLACE_TEST_COUNT=M: and those that follow).
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "all/recording_testutil.h"
#include "drawn_ops_testutil.h"
#include "op/op_def.h"
#include "placement/cost_source.h"
#include "random_graph_testutil.h"
#include "session/session_impl.h"
#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

namespace emplace::testing {
namespace {

const std::vector<std::string> kDevices = {"/cpu:0", "/cpu:1", "/cpu:2", "/gpu:0",
                                           "/gpu:1", "/gpu:2", "/gpu:3"};
constexpr int kThreads = 4;
constexpr int kRunsEach = 2;
constexpr int kOrderedRuns = 3;

// The first and the last core that this process may use.
std::vector<CpuSet> two_sets() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &mask)) cores.push_back(i);
  return {{{cores.front()}, -1}, {{cores.back()}, -1}};
}

// Costs without rhyme or reason, others each time that they are asked for anew: graphs are placed
// everywhere, and again and again.
class DrawnCosts final : public CostSource {
 public:
  explicit DrawnCosts(uint64_t seed) : seed_(seed) {}
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override {
    if (&node == first_ || !first_) ++round_;
    if (!first_) first_ = &node;
    return NodeCost{static_cast<double>(drawn(node.name() + device.name) % 1000), 0, true};
  }
  double bytes(const Node& node, int) const override {
    return static_cast<double>(drawn(node.name()) % 1000);
  }
  CostLink link(const DeviceInfo&, const DeviceInfo&) const override { return {1, 1e3}; }

 private:
  size_t drawn(const std::string& text) const {
    return std::hash<std::string>()(text + std::to_string(seed_ + round_ / 100));
  }
  const uint64_t seed_;
  mutable std::atomic<uint64_t> round_{0};  // the session asks under a lock of its own
  mutable const Node* first_ = nullptr;
};

bool places_by_cost(uint64_t seed) { return seed % 3 == 0; }  // whoever places, the bits are the same

SessionOptions many_devices(uint64_t seed) {
  SessionOptions o;
  if (places_by_cost(seed)) {
    o.placer = "dynamic";
    o.placer_evaluations = 200;
    o.placer_seed = seed;
    o.replan_after_steps = 2;
  }
  o.virtual_gpus = 4;
  o.virtual_gpu_memory = 64 << 20;
  o.gpu_options.allow_growth = true;
  o.cpu_sets = two_sets();
  o.allow_soft_placement = true;
  o.use_per_session_threads = true;
  o.inter_op_parallelism_threads = 3;
  return o;
}

using Fetches = std::vector<RandomGraph::Fetch>;

std::vector<Output> outputs_of(const Fetches& fetches) {
  std::vector<Output> outputs;
  for (const auto& f : fetches) outputs.push_back(f.output);
  return outputs;
}

// What differs, or nothing.
std::string compare(const Fetches& fetches, const std::vector<Tensor>& got) {
  for (size_t i = 0; i < fetches.size(); ++i)
    if (fetches[i].expected.has_value() && !same_bits(fetches[i].expected, got[i]))
      return fetches[i].output.node->definition() + "\n  expected " +
             describe(fetches[i].expected) + "\n  got      " + describe(got[i]);
  return "";
}

std::string run_and_compare(Session& s, const RandomGraph& g, const Fetches& fetches,
                            Node* target = nullptr) {
  std::vector<Node*> targets;
  if (target) targets.push_back(target);
  try {
    return compare(fetches, s.run(g.feeds, outputs_of(fetches), targets));
  } catch (const Error& e) {
    return std::string(e.what()) + " (node " + e.node() + ")";
  }
}

// Four threads, each with fetches of its own choice.
std::string run_from_threads(Session& s, const RandomGraph& g, uint64_t seed) {
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Random r(seed * kThreads + static_cast<uint64_t>(t));
      Fetches mine;
      for (const auto& f : g.pure)
        if (t == 0 || r.chance(40)) mine.push_back(f);
      for (int i = 0; i < kRunsEach && wrong[t].empty(); ++i)
        wrong[t] = run_and_compare(s, g, mine, g.counter);
    });
  for (auto& t : threads) t.join();
  for (const std::string& w : wrong)
    if (!w.empty()) return w;
  const float count = s.run(g.count).item<float>();
  return count == kThreads * kRunsEach ? "" : "the counter says " + std::to_string(count);
}

// The ordered step again and again, beside the same on one CPU.
std::string run_ordered(Session& s, const RandomGraph& g) {
  Session one_cpu(g.graph, one_cpu_options());
  for (Node* n : g.initializers) one_cpu.run(n);
  Fetches expected = g.ordered;
  for (int i = 0; i < kOrderedRuns; ++i) {
    const auto now = one_cpu.run(g.feeds, outputs_of(expected));
    if (i == 0)
      if (auto wrong = compare(expected, now); !wrong.empty())
        return "the ordered step on one CPU: " + wrong;
    for (size_t k = 0; k < now.size(); ++k) expected[k].expected = now[k];
    if (auto wrong = run_and_compare(s, g, expected); !wrong.empty())
      return "run " + std::to_string(i) + " of the ordered step: " + wrong;
  }
  return "";
}

std::string compare(const Program& p, const std::vector<std::vector<Tensor>>& expected,
                    const std::vector<std::vector<Tensor>>& got) {
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t k = 0; k < expected[i].size(); ++k)
      if (!same_bits(expected[i][k], got[i][k]))
        return "step " + std::to_string(i) + " of " + p.name() + ": " +
               p.steps()[i].fetches[k].node->definition() + "\n  expected " +
               describe(expected[i][k]) + "\n  got      " + describe(got[i][k]);
  return "";
}

// Each program by a thread, beside the same on one CPU.
std::string run_programs(Session& s, const RandomGraph& g) {
  std::vector<std::string> wrong(g.programs.size());
  std::vector<std::thread> threads;
  SessionOptions options = one_cpu_options();
  options.place_pruned_graph = false;  // a later step's pins could not be met, as in TensorFlow
  Session one_cpu(g.graph, options);
  for (size_t i = 0; i < g.programs.size(); ++i) {
    const Program& p = g.programs[i];
    threads.emplace_back([&, i] {
      try {
        const auto expected = p.run(one_cpu);
        wrong[i] = compare(p, expected, p.run(s));
      } catch (const Error& e) {
        wrong[i] = p.name() + ": " + e.what() + " (node " + e.node() + ")";
      }
    });
  }
  for (auto& t : threads) t.join();
  for (const std::string& w : wrong)
    if (!w.empty()) return w;
  return "";
}

int placed_again = 0;  // graphs

std::string check(const RandomGraph& g, uint64_t seed) {
  if (auto wrong = run_and_compare(*g.one_cpu, g, g.pure); !wrong.empty())
    return "on one CPU: " + wrong;
  std::optional<WithoutRecording> plainly;
  if (seed % 4 == 0) plainly.emplace();  // the others record and replay, as on a card
  Session s(g.graph, many_devices(seed));
  if (places_by_cost(seed)) s.impl().told_costs = std::make_shared<DrawnCosts>(seed);
  for (Node* n : g.initializers) s.run(n);
  if (auto wrong = run_from_threads(s, g, seed); !wrong.empty()) return wrong;
  if (auto wrong = run_ordered(s, g); !wrong.empty()) return wrong;
  const std::string wrong = run_programs(s, g);
  placed_again += s.impl().placements.size() > 1;
  return wrong;
}

// A crash must not take its seed along.
std::atomic<uint64_t> current_seed{0};

void say_seed(int signal) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "EMPLACE_TEST_SEED=%llu crashed\n",
                              static_cast<unsigned long long>(current_seed.load()));
  [[maybe_unused]] const auto written = write(2, text, static_cast<size_t>(n));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// So many graphs have every operation.
void check_all_drawn(const std::set<std::string>& used) {
  for (const OpDef* op : op_catalogue().all()) {
    if (stands_in_pipelines(op->name)) continue;
    EXPECT_NE(used.contains(op->name), never_drawn().contains(op->name))
        << op->name << (used.contains(op->name) ? " was drawn: it needs no exception"
                                                : " was never drawn, and nothing says why");
  }
  for (const auto& [op, reason] : never_drawn())
    EXPECT_TRUE(op_catalogue().find(op)) << op << ", which never can be drawn, is no operation";
}

TEST(RandomGraphs, GiveTheBitsOfAOneDeviceRun) {
  setenv("EMPLACE_HOST_TENSOR_MB", "64", 0);  // a size that was drawn may ask for gigabytes
  uint64_t first = 1, count = std::getenv("EMPLACE_TEST_FULL") ? 2000 : 50;
  if (const char* seed = std::getenv("EMPLACE_TEST_SEED"))
    first = std::strtoull(seed, nullptr, 10), count = 1;
  if (const char* n = std::getenv("EMPLACE_TEST_COUNT")) count = std::strtoull(n, nullptr, 10);
#if __has_include(<google/protobuf/stubs/logging.h>)
  google::protobuf::SetLogHandler(nullptr);  // it minds tags of summaries that are no UTF-8
#endif
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, &say_seed);
  const auto folder =
      std::filesystem::temp_directory_path() / ("random_graphs_" + std::to_string(getpid()));
  std::set<std::string> used;
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    current_seed = seed;
    const RandomGraph g = random_graph(seed, {40, kDevices, folder.string(), &op_catalogue()});
    used.merge(drawn_ops(g));
    EXPECT_GT(g.pure.size(), 20u) << "seed " << seed;
    if (const std::string wrong = check(g, seed); !wrong.empty()) {
      ++failures;
      ADD_FAILURE() << "EMPLACE_TEST_SEED=" << seed << ": " << wrong;
    }
  }
  std::filesystem::remove_all(folder);
  std::printf("%d graphs, %zu of %zu ops\n", static_cast<int>(count), used.size(),
              op_catalogue().all().size());
  if (count >= 2000) check_all_drawn(used);
  if (count >= 50) {
    EXPECT_GT(placed_again, 5);
    EXPECT_GT(used.size(), 140u);
  }
}

// Ends the process with 1 as soon as a graph differs whose plans lack a wait, with 0 when none does.
[[noreturn]] void find_a_dropped_wait() {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("random_graphs_without_" + std::to_string(getpid()));
  bool found = false;
  for (uint64_t seed = 1; seed <= 60 && !found; ++seed) {
    const RandomGraph g = random_graph(seed, {40, kDevices, folder.string(), &op_catalogue()});
    for (int wait = 0; wait < 8 && !found; ++wait) {
      planner_options().drop_wait = wait;
      found = !check(g, seed).empty();
      planner_options().drop_wait = -1;
    }
  }
  std::filesystem::remove_all(folder);
  std::_Exit(found ? 1 : 0);
}

// In a process of its own: what reads before it may can end anyhow.
TEST(RandomGraphsDeathTest, DifferWhenAPlannedWaitIsLeftOut) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a dropped wait is a data race";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(find_a_dropped_wait(), "");
}

}  // namespace
}  // namespace emplace::testing
