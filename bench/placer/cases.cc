#include "bench/placer/cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace emplace::bench {

using planning::Random;

namespace {

void add_devices(CostGraph& g, const std::string& type, int count) {
  for (int d = 0; d < count; ++d)
    g.devices.push_back({"/device:" + type + ":" + std::to_string(d), type, std::nullopt, 1});
}

// About 1, seldom below a tenth or above ten.
double spread(Random& random) {
  return std::exp(random.unit() + random.unit() + random.unit() + random.unit() - 2);
}

void name_nodes(CostGraph& g) {
  for (size_t i = 0; i < g.nodes.size(); ++i) g.nodes[i].name = "n" + std::to_string(i);
}

}  // namespace

CostGraph layered(Random& random, int nodes, double ratio) {
  CostGraph g;
  g.default_link = {0, 1};
  add_devices(g, "CPU", 2 << random.below(3));
  const int width = 2 + random.below(6);
  for (int i = 0; i < nodes; ++i) {
    g.nodes.push_back({"", {{"CPU", 1.0 + random.below(20)}}});
    for (int j = std::max(0, i - 2 * width); j <= i - width; ++j)
      if (random.below(3) == 0)
        g.edges.push_back({j, i, double(int((0.5 + random.unit()) * ratio * 10))});
  }
  name_nodes(g);
  return g;
}

Built without_gaps(Random& random, int nodes, int devices) {
  Built out;
  CostGraph& g = out.graph;
  g.default_link = {0, 1};
  add_devices(g, "CPU", devices);
  const int end = std::max(10 * nodes / devices, 30);
  out.optimum = end;
  std::vector<std::pair<int, int>> spans;
  for (int d = 0; d < devices; ++d) {
    std::vector<int> cuts(end - 1);
    std::iota(cuts.begin(), cuts.end(), 1);
    const int mine = nodes / devices + (d < nodes % devices);
    for (int k = 0; k + 1 < mine; ++k) std::swap(cuts[k], cuts[k + random.below(end - 1 - k)]);
    cuts.resize(mine - 1);
    cuts.push_back(0), cuts.push_back(end);
    std::sort(cuts.begin(), cuts.end());
    for (int k = 0; k < mine; ++k) spans.emplace_back(cuts[k], cuts[k + 1]);
  }
  std::sort(spans.begin(), spans.end());
  const int most = 1 << random.below(4), soon = random.below(4) ? 10 : end;
  std::vector<int> before;
  for (size_t i = 0; i < spans.size(); ++i) {
    g.nodes.push_back({"", {{"CPU", double(spans[i].second - spans[i].first)}}});
    before.clear();
    for (size_t j = 0; j < i; ++j)
      if (spans[j].second <= spans[i].first && spans[j].second >= spans[i].first - soon)
        before.push_back(int(j));
    for (int k = before.empty() ? 0 : 1 + random.below(most); k > 0; --k)
      g.edges.push_back({before[random.below(int(before.size()))], int(i), 0});
  }
  name_nodes(g);
  return out;
}

CostGraph tiled(Random& random, Tiled kind, int tiles) {
  struct Kernel {
    double cpu, gain;
  };
  const Kernel kFactor = {2, 1.5}, kSolve = {3, 8}, kUpdate = {6, 28}, kTall = {6, 3}, kApply = {11, 20};
  CostGraph g;
  g.default_link = {1e-5, 12e9};
  constexpr std::array<std::pair<int, int>, 4> kMachines = {{{16, 4}, {8, 2}, {12, 8}, {16, 2}}};
  const auto [cpus, gpus] = kMachines[random.below(4)];
  add_devices(g, "CPU", cpus), add_devices(g, "GPU", gpus);
  const double bytes = random.below(2) ? 7e6 : 0;
  std::map<std::pair<int, int>, int> last;  // who wrote a tile last
  using Tiles = std::vector<std::pair<int, int>>;
  const auto task = [&](Kernel k, const Tiles& read, const Tiles& written) {
    const int at = int(g.nodes.size());
    const double cpu = k.cpu * 5e-3 * (0.95 + 0.1 * random.unit());
    g.nodes.push_back({"", {{"CPU", cpu}, {"GPU", cpu / k.gain}}});
    std::vector<int> from;
    for (const Tiles* all : {&read, &written})
      for (const auto& tile : *all)
        if (const auto found = last.find(tile); found != last.end()) from.push_back(found->second);
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (int f : from) g.edges.push_back({f, at, bytes});
    for (const auto& tile : written) last[tile] = at;
  };
  for (int k = 0; k < tiles; ++k) {
    task(kFactor, {}, {{k, k}});
    if (kind == Tiled::kQr)
      for (int j = k + 1; j < tiles; ++j) task(kApply, {{k, k}}, {{k, j}});
    else
      for (int i = k + 1; i < tiles; ++i) {
        task(kSolve, {{k, k}}, {{i, k}});
        if (kind == Tiled::kLu) task(kSolve, {{k, k}}, {{k, i}});
      }
    for (int i = k + 1; i < tiles; ++i) {
      if (kind == Tiled::kQr) task(kTall, {}, {{k, k}, {i, k}});
      for (int j = k + 1; j < (kind == Tiled::kCholesky ? i + 1 : tiles); ++j)
        if (kind == Tiled::kQr) task(kApply, {{i, k}}, {{k, j}, {i, j}});
        else if (kind == Tiled::kLu) task(kUpdate, {{i, k}, {k, j}}, {{i, j}});
        else task(kUpdate, {{i, k}, {j, k}}, {{i, j}});
    }
  }
  name_nodes(g);
  return g;
}

CostGraph network(Random& random, PlanModel model, int blocks, int gpus, double room) {
  CostGraph g;
  g.model = model;
  g.serial_links = model == PlanModel::kList;
  g.through_host = !g.serial_links;
  constexpr double kRates[] = {12e9, 25e9, 300e9};
  g.default_link = {1e-5, kRates[random.below(3)]};
  double kept = 0, largest = 0;
  const auto node = [&](int from) {
    const int at = int(g.nodes.size());
    const double t = 1e-3 * spread(random);
    g.nodes.push_back({"", {{"GPU", t}, {"CPU", 10 * t}}, std::floor(1.5e7 * spread(random))});
    kept += g.nodes.back().memory;
    largest = std::max(largest, g.nodes.back().memory);
    if (from >= 0) g.edges.push_back({from, at, std::floor(3e6 * spread(random))});
    return at;
  };
  int last = -1;
  for (int b = 0; b < blocks; ++b) {
    const int start = node(last);
    constexpr int kBranches[] = {1, 1, 2, 4};
    std::vector<int> ends;
    for (int k = kBranches[random.below(4)]; k > 0; --k) {
      int at = start;
      for (int length = 1 + random.below(4); length > 0; --length) at = node(at);
      ends.push_back(at);
    }
    last = node(ends[0]);
    for (size_t k = 1; k < ends.size(); ++k) g.edges.push_back({ends[k], last, 3e6});
  }
  if (model != PlanModel::kCalls) {
    const int forward = int(g.nodes.size());
    const std::vector<CostEdge> edges = g.edges;
    for (int i = 0; i < forward; ++i) {
      g.groups.push_back("g" + std::to_string(i));
      g.nodes[i].group = i;
      g.nodes.push_back(g.nodes[i]);
      g.nodes.back().memory = 0;
      for (auto& [device, seconds] : g.nodes.back().time) seconds *= 2;
      g.edges.push_back({i, forward + i, 3e6});
    }
    for (const CostEdge& e : edges) g.edges.push_back({forward + e.dst, forward + e.src, e.bytes});
  }
  add_devices(g, "GPU", gpus);
  for (CostDevice& d : g.devices) d.memory = std::ceil(std::max(kept * room / gpus, 1.2 * largest));
  add_devices(g, "CPU", 1);
  if (model != PlanModel::kList) g.devices.back().slots.reset();
  name_nodes(g);
  return g;
}

}  // namespace emplace::bench
