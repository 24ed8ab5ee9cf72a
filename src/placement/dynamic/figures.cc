#include "placement/dynamic/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace emplace::placement {
namespace {

constexpr double kLight = 1e-6;  // seconds: below, a node goes with the one that it is there for
constexpr int kHops = 4, kGaps = 200;

}  // namespace

Figures::Figures(std::shared_ptr<const Result> rules, StepCosts step, Choice choice)
    : rules_(std::move(rules)),
      step_(std::move(step)),
      choice_(std::move(choice)),
      inputs_(step_.graph.nodes.size()),
      readers_(step_.graph.nodes.size()),
      on_(step_.graph.devices.size()),
      seconds_(step_.graph.nodes.size(), 0) {
  const CostGraph& g = step_.graph;
  for (size_t e = 0; e < g.edges.size(); ++e) {
    inputs_[g.edges[e].dst].push_back(static_cast<int>(e));
    readers_[g.edges[e].src].push_back(g.edges[e].dst);
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const int d = choice_.device[i];
    for (const auto& [name, seconds] : g.nodes[i].time)
      if (name == g.devices[d].name) seconds_[i] = seconds;
    if (seconds_[i] > 0) on_[d].push_back(static_cast<int>(i));
  }
  for (std::vector<int>& nodes : on_)
    std::ranges::sort(nodes, {}, [&](int i) { return choice_.start_s[i]; });
}

PlacedNode Figures::explain(size_t node) const {
  PlacedNode out = rules_->explain(node);
  const int at = step_.at[node];
  if (at < 0 || out.reason == Reason::kAlreadyPlaced) return out;
  const int cause = heavy(at);
  const std::vector<Offer> all = offers(cause);
  const auto mine = std::ranges::find(all, out.device, &Offer::device);
  if (mine == all.end()) return out;
  const std::string who = cause == at ? "" : step_.graph.nodes[cause].name + " ";
  const std::string ends = (who.empty() ? "" : "goes with " + who + "that ") + "finishes " + words(*mine);
  if (all.size() == 1) {
    out.detail += "; " + ends;
    return out;
  }
  out.reason = Reason::kCost;
  std::string others;
  for (const Offer& o : all) {
    if (o.device == out.device) continue;
    others += (others.empty() ? "; " : ", ") + words(o);
    for (Rejected& r : out.rejected)
      if (r.device == step_.graph.devices[o.device].name) r.why = who + "finishes " + words(o);
  }
  out.detail = ends + others + (choice_.doubt.empty() ? "" : "; " + choice_.doubt);
  return out;
}

int Figures::heavy(int at) const {
  for (int hops = 0; hops < kHops && seconds_[at] < kLight; ++hops) {
    int most = -1;
    for (const int r : readers_[at])
      if (choice_.device[r] == choice_.device[at] && (most < 0 || seconds_[r] > seconds_[most]))
        most = r;
    if (most < 0 || step_.node[most] < 0) break;
    at = most;
  }
  return at;
}

std::vector<Figures::Offer> Figures::offers(int at) const {
  std::vector<Offer> all;
  for (const auto& [name, seconds] : step_.graph.nodes[at].time)
    for (size_t d = 0; d < step_.graph.devices.size(); ++d)
      if (step_.graph.devices[d].name == name)
        all.push_back(offer(at, static_cast<int>(d), seconds));
  std::ranges::sort(all, {}, &Offer::end_s);
  return all;
}

Figures::Offer Figures::offer(int at, int device, double seconds) const {
  if (device == choice_.device[at]) return {device, choice_.start_s[at] + seconds, 0};
  double start = ready(at, device), busy = 0;
  if (step_.graph.devices[device].slots != 1) return {device, start + seconds, 0};
  // The first gap of the device's schedule after the inputs are there; among very many nodes, its end.
  const std::vector<int>& nodes = on_[device];
  auto it = std::ranges::upper_bound(nodes, start, {}, [&](int i) { return choice_.start_s[i]; });
  if (it != nodes.begin()) --it;
  for (int looked = 0; it != nodes.end(); ++it, ++looked) {
    const double begin = choice_.start_s[*it], end = begin + seconds_[*it];
    if (end <= start) continue;
    if (begin >= start + seconds) break;
    start = busy = looked < kGaps ? end : choice_.start_s[nodes.back()] + seconds_[nodes.back()];
    if (looked >= kGaps) break;
  }
  return {device, start + seconds, busy};
}

double Figures::ready(int at, int device) const {
  const CostGraph& g = step_.graph;
  double when = 0;
  for (const int e : inputs_[at]) {
    const CostEdge& edge = g.edges[e];
    const int from = choice_.device[edge.src];
    double arrives = choice_.start_s[edge.src] + seconds_[edge.src];
    if (from != device && edge.bytes > 0)
      for (const CostLinkPair& l : g.links)
        if (l.src == from && l.dst == device)
          arrives += l.link.latency_s + edge.bytes / l.link.bytes_per_s;
    when = std::max(when, arrives);
  }
  return when;
}

std::string Figures::words(const Offer& o) const {
  std::string text = fmt::format("{} on {}", milliseconds(o.end_s), device_name(o.device));
  if (o.busy_till_s > 0) text += fmt::format(" (busy till {})", milliseconds(o.busy_till_s));
  return text;
}

std::string Figures::device_name(int device) const {
  return rules_->context.devices[static_cast<size_t>(device)].parsed.local_name();
}

}  // namespace emplace::placement
