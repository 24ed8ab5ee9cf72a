#include "placement/search/memory_over_time.h"

#include <algorithm>
#include <array>
#include <map>

namespace emplace::planning {
namespace {

// Bytes on one device from `start` to `end`.
struct Life {
  int device, node;
  double bytes, start, end;
  bool copy;
};

class Lives {
 public:
  Lives(const CostGraph& g, std::span<const int> device, const PredictedStep& step)
      : g_(g), device_(device), step_(step), end_(g.nodes.size()), first_(g.nodes.size()) {
    std::vector<double> start(g.nodes.size());
    for (const auto& r : step.runs) start[r.node] = r.start_s, end_[r.node] = r.end_s;
    for (size_t i = 0; i < g.nodes.size(); ++i) make_outputs(int(i), start[i]);
    for (const auto& c : step.copies) make_copy(c);
    for (const CostEdge& e : g.edges) read(e);
    take_over();
  }

  const std::vector<Life>& all() const { return all_; }
  // The most that one node needs at once, and which one.
  void least(std::vector<PredictedStep::Device>& devices) const {
    std::vector<double> needs(g_.nodes.size(), 0);
    std::map<std::pair<int, int>, char> seen;  // node, life
    const auto need = [&](int node, int life) {
      if (life >= 0 && seen.emplace(std::pair(node, root(life)), 1).second)
        needs[node] += all_[root(life)].bytes;
    };
    for (size_t i = 0; i < g_.nodes.size(); ++i)
      for (int o = 0; o < outputs(int(i)); ++o) need(int(i), first_[i] + o);
    for (const CostEdge& e : g_.edges) need(e.dst, life_of(e));
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      auto& d = devices[device_[i]];
      if (d.kept_bytes + needs[i] > d.least_bytes)
        d.least_bytes = d.kept_bytes + needs[i], d.least_node = int(i);
    }
  }

 private:
  int outputs(int node) const {
    return (node + 1 < int(first_.size()) ? first_[node + 1] : made_) - first_[node];
  }

  void make_outputs(int i, double start) {
    if (edge_bytes_.empty()) {
      edge_bytes_.resize(g_.nodes.size());
      for (const CostEdge& e : g_.edges) {
        if (e.output < 0) continue;
        auto& sizes = edge_bytes_[e.src];
        if (int(sizes.size()) <= e.output) sizes.resize(e.output + 1, 0);
        sizes[e.output] = std::max(sizes[e.output], e.bytes);
      }
    }
    first_[i] = int(all_.size());
    const CostNode& n = g_.nodes[i];
    const size_t count = std::max(edge_bytes_[i].size(), n.output_bytes.size());
    for (size_t o = 0; o < count; ++o)
      all_.push_back({device_[i], i, o < n.output_bytes.size() ? n.output_bytes[o] : edge_bytes_[i][o],
                      start, n.fetched ? step_.step_s : end_[i], false});
    made_ = int(all_.size());
  }

  void make_copy(const PredictedStep::Copy& c) {
    if (c.output < 0) return;
    copy_[{c.node, c.output, c.to}] = int(all_.size());
    all_.push_back({c.to, c.node, c.bytes, c.start_s, c.end_s, true});
    Life& from = all_[first_[c.node] + c.output];
    from.end = std::max(from.end, c.end_s);
  }

  // The life that an edge's end reads; -1: none.
  int life_of(const CostEdge& e) const {
    if (e.output < 0) return -1;
    if (device_[e.src] == device_[e.dst]) return first_[e.src] + e.output;
    const auto found = copy_.find({e.src, e.output, device_[e.dst]});
    return found == copy_.end() ? -1 : found->second;
  }

  void read(const CostEdge& e) {
    const int k = life_of(e);
    if (k >= 0) all_[k].end = std::max(all_[k].end, end_[e.dst]);
  }

  // What is computed in place lives on in the memory of its input.
  void take_over() {
    into_.resize(all_.size());
    for (size_t k = 0; k < into_.size(); ++k) into_[k] = int(k);
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const int of = g_.nodes[i].in_place;
      if (of < 0 || device_[of] != device_[i] || !outputs(int(i)) || !outputs(of)) continue;
      const int a = root(first_[of]), b = first_[i];
      if (a == b || root(b) != b) continue;
      into_[b] = a;
      all_[a].bytes = std::max(all_[a].bytes, all_[b].bytes);
      all_[a].start = std::min(all_[a].start, all_[b].start);
      all_[a].end = std::max(all_[a].end, all_[b].end);
      all_[b].end = all_[b].start;
    }
  }
  int root(int k) const {
    while (into_[k] != k) k = into_[k];
    return k;
  }

  const CostGraph& g_;
  std::span<const int> device_;
  const PredictedStep& step_;
  std::vector<double> end_;
  std::vector<int> first_;  // by node: the life of its first output
  int made_ = 0;            // lives that are no copies
  std::vector<std::vector<double>> edge_bytes_;
  std::vector<Life> all_;
  std::vector<int> into_;
  std::map<std::array<int, 3>, int> copy_;
};

void find_peaks(const std::vector<Life>& lives, std::vector<PredictedStep::Device>& devices) {
  struct Change {
    double at, bytes;  // what is freed goes before what is taken
    int device;
    bool operator<(const Change& o) const { return at != o.at ? at < o.at : bytes < o.bytes; }
  };
  std::vector<Change> changes;
  for (const Life& l : lives) {
    if (l.end <= l.start) continue;
    changes.push_back({l.start, l.bytes, l.device});
    changes.push_back({l.end, -l.bytes, l.device});
  }
  std::sort(changes.begin(), changes.end());
  std::vector<double> now;
  for (auto& d : devices) now.push_back(d.peak_bytes = d.kept_bytes);
  for (const Change& c : changes) {
    auto& d = devices[c.device];
    if ((now[c.device] += c.bytes) > d.peak_bytes) d.peak_bytes = now[c.device], d.peak_at_s = c.at;
  }
}

}  // namespace

void add_memory(const CostGraph& g, std::span<const int> device, PredictedStep& step) {
  for (size_t i = 0; i < g.nodes.size(); ++i) step.devices[device[i]].kept_bytes += g.nodes[i].memory;
  for (auto& d : step.devices) d.least_bytes = d.kept_bytes;
  const Lives lives(g, device, step);
  find_peaks(lives.all(), step.devices);
  lives.least(step.devices);
  for (size_t i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[i].memory > 0)
      step.devices[device[i]].at_peak.push_back({int(i), g.nodes[i].memory, false});
  for (const Life& l : lives.all()) {
    auto& d = step.devices[l.device];
    if (l.bytes > 0 && l.start <= d.peak_at_s && d.peak_at_s < l.end)
      d.at_peak.push_back({l.node, l.bytes, l.copy});
  }
  for (auto& d : step.devices)
    std::stable_sort(d.at_peak.begin(), d.at_peak.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

}  // namespace emplace::planning
