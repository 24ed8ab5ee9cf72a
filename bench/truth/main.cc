// bench/run truth [--json FILE] [--random N] [--rounds N] [--only TEXT] [--books FOLDER]
// [--card | --calls]
// Predicted steps beside measured ones: networks under three placements each, on sets of cores, on
// virtual GPUs, and with --card on cards. Then the chosen plan beside random ones that really run.
// Beside each: what its program is made of. --books keeps the costs that predictions rest on.
// With --calls instead: calls of heavy operations, what their cost rules say and what they took.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "base/cpu_info.h"
#include "bench/common/quiet.h"
#include "bench/common/rows.h"
#include "bench/truth/calls.h"
#include "bench/truth/nets.h"
#include "emplace/what_if.h"
#include "exec/island.h"
#include "placement/costs/source.h"
#include "session/calibrate.h"

namespace emplace::bench {
namespace {

constexpr int kWarmSteps = 12;
constexpr double kRoundSeconds = 0.03;
constexpr int kReplanAfter = 20, kSettlingSteps = 3000;  // if there is time
constexpr std::chrono::milliseconds kMostSettling{2500};

struct Setup {
  std::string name;
  SessionOptions options;
  std::vector<std::string> devices;  // two
};

struct Options {
  int random = 20, rounds = 15;
  bool card = false;
  std::string books;  // a folder: what predictions rest on is put there
};

int number(int argc, char** argv, const char* name, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::atoi(argv[i + 1]);
  return otherwise;
}

using Costs = std::shared_ptr<const CostSource>;

std::string parts_of(const Program& program) {
  struct Parts {
    int calls = 0, islands = 0;
    size_t members = 0;
  };
  std::map<std::string, Parts> devices;
  int copies = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const Label& label = program.labels[i];
    if (label.kind == StepKind::kCopy) {
      ++copies;
      continue;
    }
    Parts& p =
        devices[std::string(label.device->name().substr(label.device->name().rfind("e:") + 2))];
    ++p.calls;
    if (!label.island) continue;
    ++p.islands;
    p.members += static_cast<const Island*>(program.calls[i].state)->members.size();
  }
  std::string text;
  for (const auto& [name, p] : devices) {
    text += fmt::format("{} {} calls", name, p.calls);
    if (p.islands) text += fmt::format(" ({} recorded, of {})", p.islands, p.members);
    text += ", ";
  }
  return text + fmt::format("{} copies", copies);
}

// A net on devices (by node id; 1: the setup's first; empty: as the placer likes it), ready to run.
class Placed {
 public:
  Placed(const Net& net, const Setup& setup, const std::vector<int>& device, Costs costs = nullptr)
      : net_(net) {
    for (Node* n : net.graph->nodes()) {
      const std::string asked = device.empty() ? "" : "/" + setup.devices[size_t(device[size_t(n->id())] - 1)];
      net.graph->set_device(n, is_fed(n) ? "/cpu:0" : asked);
    }
    session_ = std::make_unique<Session>(net.graph, setup.options);
    session_->impl().told_costs = std::move(costs);
    callable_ = session_->make_callable(net.feeds, net.fetches);
    steps(kWarmSteps);
    repetitions_ = std::max(1, int(kRoundSeconds / steps(2)));
  }

  // Till a session that places again has done so.
  void settle() {
    const auto start = std::chrono::steady_clock::now();
    const auto late = [&] { return std::chrono::steady_clock::now() - start > kMostSettling; };
    for (int i = 0; i < kSettlingSteps && !late(); ++i) steps(1);
  }
  double steps(int count) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) callable_.run(net_.values, fetched_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
  }
  void round() {
    for (int i = 0; i < repetitions_; ++i) seen_.push_back(steps(1));
  }
  double usual() const { return lower_quartile(seen_); }
  // What such a step takes by these costs.
  double predicted(Costs costs) {
    session_->impl().told_costs = std::move(costs);
    return forecast(*session_, net_.fetches, net_.feeds).step_s;
  }
  // "GPU:0 3 calls (2 recorded, of 40), CPU:0 12 calls; 5 copies": what the program is made of.
  std::string parts() {
    Signature signature;
    signature.feeds = net_.feeds;
    signature.fetches = net_.fetches;
    Session::Impl& s = session_->impl();
    const auto program = s.checked_program(*s.family(std::move(signature)), net_.values);
    return parts_of(*program);
  }
  Session& session() { return *session_; }

 private:
  bool is_fed(const Node* n) const {
    return std::ranges::any_of(net_.feeds, [&](const Output& f) { return f.node == n; });
  }

  const Net& net_;
  std::unique_ptr<Session> session_;
  Callable callable_;
  std::vector<Tensor> fetched_;
  std::vector<double> seen_;
  int repetitions_ = 1;
};

std::vector<int> by_block(const Net& net, const std::function<int(int)>& device) {
  std::vector<int> out;
  for (const int b : net.block) out.push_back(device(b));
  return out;
}

struct Named {
  std::string name;
  std::vector<int> device;
};

std::vector<Named> three_placements(const Net& net) {
  return {{"one device", by_block(net, [](int) { return 1; })},
          {"halves", by_block(net, [&](int b) { return b < net.blocks / 2 ? 1 : 2; })},
          {"in turns", by_block(net, [](int b) { return 1 + b % 2; })}};
}

void in_turns(std::vector<std::unique_ptr<Placed>>& runs, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (auto& run : runs) run->round();
}

struct Errors {
  std::vector<double> all;
  void add(double ratio) { all.push_back(std::abs(ratio - 1)); }
  double at(double share) const {
    std::vector<double> s = all;
    std::ranges::sort(s);
    return s.empty() ? 0 : s[size_t(share * double(s.size() - 1))];
  }
};

struct Truth {
  std::vector<Row> rows;
  Errors measured, estimated, gap, gap_in_use;
};

void tell(const std::string& name, Placed& run, const Costs& costs) {
  std::fprintf(stderr, "  %s: said %.3f, took %.3f ms; %s\n", name.c_str(),
               run.predicted(costs) * 1e3, run.usual() * 1e3, run.parts().c_str());
}

// The dynamic placer's plan by what was measured, and where a session has its nodes that began on
// estimates and placed again by its own measurements, beside random placements of blocks, each
// really run.
void choose(const Net& net, const Setup& setup, const Costs& costs, const Options& o, Truth& truth) {
  Setup dynamic = setup;
  dynamic.options.placer = "dynamic";
  dynamic.options.placer_budget_ms = 50;
  dynamic.options.replan_after_steps = -1;
  std::vector<std::unique_ptr<Placed>> runs;
  runs.push_back(std::make_unique<Placed>(net, dynamic, std::vector<int>(), costs));
  dynamic.options.replan_after_steps = kReplanAfter;
  runs.push_back(std::make_unique<Placed>(net, dynamic, std::vector<int>()));
  runs.back()->settle();
  for (const int d : {1, 2})
    runs.push_back(std::make_unique<Placed>(net, setup, by_block(net, [&](int) { return d; })));
  std::mt19937 random(7);
  for (int k = 0; k < o.random; ++k) {
    std::vector<int> of(size_t(net.blocks));
    for (int& d : of) d = 1 + int(random() % 2);
    runs.push_back(std::make_unique<Placed>(net, setup, by_block(net, [&](int b) { return of[size_t(b)]; })));
  }
  in_turns(runs, o.rounds);
  double best_random = 1e30;
  for (size_t i = 4; i < runs.size(); ++i) best_random = std::min(best_random, runs[i]->usual());
  const double single = std::min(runs[2]->usual(), runs[3]->usual());
  const char* const names[] = {"plan", "in use", "first alone", "second alone"};
  for (size_t i = 0; i < 4; ++i) {
    Row row{net.name + ", " + setup.name + ", " + names[i], runs[i]->usual() * 1e3, "ms", {}};
    tell(row.name, *runs[i], costs);
    if (i >= 2) continue;
    row.peers = {{"best single", single * 1e3},
                 {"predicted", runs[i]->predicted(costs) * 1e3, false}};
    if (o.random > 0) row.peers.push_back({"best of random", best_random * 1e3});
    truth.rows.push_back(row);
    Errors& gap = i == 0 ? truth.gap : truth.gap_in_use;
    gap.all.push_back(runs[i]->usual() / std::min(single, best_random) - 1);
  }
}

// What would be said of the net before it has ever run.
Costs estimates(Session::Impl& s) {
  const DeviceKinds kinds = device_kinds(*s.devices);
  return std::make_shared<BookCosts>(
      machine_rates({s.pools, s.devices, s.resources_owner, nullptr}, kinds, s.kernels), kinds);
}

void look_at(const Net& net, const Setup& setup, const Options& o, Truth& truth) {
  const std::vector<Named> named = three_placements(net);
  std::vector<std::unique_ptr<Placed>> runs;
  for (const Named& n : named) runs.push_back(std::make_unique<Placed>(net, setup, n.device));
  const Costs guess = estimates(runs[0]->session().impl());
  in_turns(runs, o.rounds);
  // What one device showed has to tell of the others.
  const Costs costs = runs[0]->session().impl().cost_source();
  if (!o.books.empty())
    static_cast<const BookCosts&>(*costs).book().save(o.books + "/" + net.name + ", " + setup.name +
                                                      ".json");
  for (size_t i = 0; i < runs.size(); ++i) {
    const double real = runs[i]->usual(), said = runs[i]->predicted(costs);
    const double rough = runs[i]->predicted(guess);
    Row row{net.name + ", " + setup.name + ", " + named[i].name, said * 1e3, "ms", {}};
    row.peers = {{"measured", real * 1e3}, {"estimated", rough * 1e3, false}};
    truth.rows.push_back(row);
    tell(row.name, *runs[i], costs);
    truth.measured.add(said / real);
    truth.estimated.add(rough / real);
  }
  if (o.random >= 0) choose(net, setup, costs, o, truth);
}

std::vector<Setup> setups(bool card) {
  std::vector<Setup> all(2);
  for (Setup& s : all) {
    s.options.measure_costs = true;
    s.options.placer = "simple";
    s.options.allow_soft_placement = true;  // what a GPU has no kernel for
  }
  if (card) {
    all[0].name = "card and cores";
    all[0].options.cpu_sets = {{usable_cores(), -1}};
    all[0].devices = {"GPU:0", "CPU:1"};
    all[1].name = "logical cards";
    all[1].options.gpu_options.virtual_devices = {{8192, 8192}};
    all[1].devices = {"GPU:0", "GPU:1"};
    return all;
  }
  all[0].name = "sets of cores";
  all[0].options.cpu_sets = {{{0}, -1}, {{1}, -1}};
  all[0].devices = {"CPU:1", "CPU:2"};
  all[1].name = "virtual GPUs";
  all[1].options.virtual_gpus = 2;
  all[1].options.virtual_gpu_memory = int64_t{6} << 30;  // of all random placements at once
  all[1].devices = {"GPU:0", "GPU:1"};
  return all;
}

void networks(const Options& o, const std::string& only, Truth& truth) {
  for (const Net& net : nets())
    for (const Setup& setup : setups(o.card))
      if ((net.name + ", " + setup.name).find(only) != std::string::npos) {
        std::fprintf(stderr, "%s, %s\n", net.name.c_str(), setup.name.c_str());
        look_at(net, setup, o, truth);
      }
  const auto summary = [&](const char* name, double value) {
    truth.rows.push_back({name, 100 * value, "%", {}});
  };
  summary("error of predictions, median", truth.measured.at(0.5));
  summary("error of predictions, 95th percentile", truth.measured.at(0.95));
  summary("error before anything ran, median", truth.estimated.at(0.5));
  summary("plan above the best of all, median", truth.gap.at(0.5));
  summary("in use above the best of all, median", truth.gap_in_use.at(0.5));
  summary("in use above the best of all, most", truth.gap_in_use.at(1));
}

int run(int argc, char** argv) {
  Options o{number(argc, argv, "--random", 20), number(argc, argv, "--rounds", 15), false, {}};
  std::string only;
  bool calls = false;
  for (int i = 1; i < argc; ++i) {
    o.card |= std::strcmp(argv[i], "--card") == 0;
    calls |= std::strcmp(argv[i], "--calls") == 0;
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[i + 1];
    if (std::strcmp(argv[i], "--books") == 0 && i + 1 < argc) o.books = argv[i + 1];
  }
  Truth truth;
  if (calls) truth.rows = estimated_calls();
  else networks(o, only, truth);
  print_table(std::cout, truth.rows);
  if (const std::string path = json_path(argc, argv); !path.empty()) write_json(path, truth.rows);
  return 0;
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) { return emplace::bench::run(argc, argv); }
