// bench/run sched [--json FILE] [--only TEXT] [--patience SECONDS]
// What scheduling a node costs: the same graphs on every contender, in the same rounds.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "bench/sched/emplace.h"
#include "bench/sched/goals.h"
#include "bench/sched/suite.h"

namespace emplace::bench {
namespace {

constexpr uint32_t kAddNodes = 1000;
constexpr int kQuietPlacements = 9;  // wanted …
constexpr int kPlacements = 40;      // … of at most so many
constexpr int kGpuPlacements = 5;
constexpr uint32_t kLargeGraph = 1000;  // below: timed as whole runs

struct Options {
  std::string json;
  std::string only;
  double patience = 12;  // seconds a row
};

Options parse(int argc, char** argv) {
  Options options;
  options.json = json_path(argc, argv);
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
    if (std::strcmp(argv[i], "--patience") == 0) options.patience = std::atof(argv[i + 1]);
  }
  return options;
}

// Every peer; the flow graph's lightweight nodes run inside their predecessor, for small graphs
// only: a chain of 100,000 would not fit the stack.
std::vector<std::unique_ptr<Contender>> all_peers(bool small) {
  std::vector<std::unique_ptr<Contender>> peers;
  peers.push_back(make_floor());
  peers.push_back(make_tbb_flow_graph(false));
  if (small) peers.push_back(make_tbb_flow_graph(true));
  peers.push_back(make_tbb_task_group());
  peers.push_back(make_openmp_tasks());
  // Last: whoever comes next after busy threads is slower for some milliseconds, a fifth or so.
  peers.push_back(make_in_order());
  return peers;
}

class Suite {
 public:
  explicit Suite(const Options& options) : options_(options), graphs_(benchmark_graphs()) {}

  std::vector<Row> run() {
    for (const TaskGraph& graph : graphs_) empty_nodes(graph);
    for (const uint32_t floats : {1u, 1024u}) add_chain(floats);
    long_nodes("wave-1us", graphs_[1]);
    long_nodes("random-1us", graphs_[2]);
    place();
    place_over_gpus();
    return std::move(rows_);
  }

 private:
  bool wanted(const std::string& name) const {
    return name.find(options_.only) != std::string::npos;
  }

  const Row& timed(Case work) {
    work.patience.seconds = options_.patience;
    rows_.push_back(run_case(clock_, work));
    std::cerr << '.' << std::flush;
    return rows_.back();
  }

  void empty_nodes(const TaskGraph& graph) {
    if (!wanted(graph.name)) return;
    const bool small = graph.nodes < kLargeGraph;
    const auto counting = [&graph] { return std::make_unique<CountingWork>(graph.nodes, 0); };
    for (const int workers : {1, 2}) {
      auto peers = all_peers(small);
      if (workers > 1) peers.push_back(make_emplace_alone());
      timed({graph.name, &graph, counting, workers, small, std::move(peers), make_emplace(), {}});
    }
  }

  void add_chain(uint32_t floats) {
    const std::string name = "add-" + std::to_string(floats);
    if (!wanted(name)) return;
    const TaskGraph graph = make_chain(kAddNodes);
    const auto adding = [floats] { return std::make_unique<AddWork>(kAddNodes, floats); };
    for (const int workers : {1, 2}) {
      timed({name, &graph, adding, workers, false, all_peers(false),
             make_emplace_adds(floats), {}});
    }
  }

  void long_nodes(const std::string& name, const TaskGraph& graph) {
    if (!wanted(name)) return;
    const uint32_t spins = CountingWork::spins_for(1000);
    const auto spinning = [&] { return std::make_unique<CountingWork>(graph.nodes, spins); };
    std::vector<Row> both;
    for (const int workers : {1, 2}) {
      both.push_back(
          timed({name, &graph, spinning, workers, false, long_peers(), make_emplace(), {5, 0}}));
    }
    rows_.push_back(gain_row(name, both[0], both[1]));
  }

  struct Placing {
    std::string name;
    uint32_t nodes;
    std::vector<Round> first, second;

    bool enough() const {
      const auto quiet = [](const std::vector<Round>& rounds) {
        return std::ranges::count_if(rounds, &Round::quiet) >= kQuietPlacements;
      };
      return quiet(first) && quiet(second);
    }
  };

  // Placing and planning. There is nothing to compare with but other sizes, which take turns.
  std::vector<Placing> time_placing(const std::string& suffix, bool gpus, int most) {
    std::vector<Placing> all;
    for (const uint32_t nodes : {1'000u, 10'000u, 100'000u}) {
      std::string name = "place-" + std::to_string(nodes) + suffix;
      if (wanted(name)) all.push_back({std::move(name), nodes, {}, {}});
    }
    for (int i = 0; i < most && !std::ranges::all_of(all, &Placing::enough); ++i) {
      for (Placing& p : all) {
        const FirstRuns runs = time_first_runs(clock_, p.nodes, gpus);
        p.first.push_back(runs.first);
        p.second.push_back(runs.second);
      }
    }
    return all;
  }

  // A first run less a second.
  void place() {
    for (const Placing& p : time_placing("", false, kPlacements)) {
      const Timing first = summarize(p.first), second = summarize(p.second);
      rows_.push_back({"sched/" + p.name, (first.ns - second.ns) * 1e-9, "s", {},
                       std::min(first.quiet, second.quiet)});
    }
  }

  // The whole first run: runs over GPUs differ by more than planning takes.
  void place_over_gpus() {
    for (const Placing& p : time_placing("-gpus", true, kGpuPlacements)) {
      const Timing first = summarize(p.first);
      rows_.push_back({"sched/" + p.name, first.ns * 1e-9, "s", {}, first.quiet});
    }
  }

  static std::vector<std::unique_ptr<Contender>> long_peers() {
    std::vector<std::unique_ptr<Contender>> peers;
    peers.push_back(make_floor());
    peers.push_back(make_tbb_task_group());
    return peers;
  }

  Options options_;
  QuietClock clock_;
  std::vector<TaskGraph> graphs_;
  std::vector<Row> rows_;
};

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::vector<Row> rows = Suite(options).run();
  std::cerr << '\n';
  print_table(std::cout, rows);
  std::cout << '\n';
  print_goals(std::cout, judge(rows));
  if (!options.json.empty()) write_json(options.json, rows);
  return 0;
}

// libgomp's idle threads would spin on the core of whoever is measured next. It reads its
// environment once, when it is loaded.
void calm_openmp(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) {
  emplace::bench::calm_openmp(argv);
  try {
    return emplace::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench sched: " << error.what() << '\n';
    return 1;
  }
}
