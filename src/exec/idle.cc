#include "exec/idle.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "exec/joiner.h"

namespace emplace {
namespace {

// Without effects, but put into a graph to fail.
constexpr std::array<std::string_view, 3> kChecks = {"CheckNumerics", "CheckNumericsV2",
                                                     "EnsureShape"};

}  // namespace

bool has_no_effect(const StepGraph& g, const Step& s) {
  if (s.kind != StepKind::kKernel || !s.row || s.row->traits.blocks) return false;
  if (s.outputs.empty()) return false;
  if (s.node->op().stateful) return false;
  if (std::ranges::find(kChecks, s.node->type()) != kChecks.end()) return false;
  return std::ranges::none_of(s.inputs, [&](Port p) { return g.out(p).is_ref; }) &&
         std::ranges::none_of(s.outputs, [](const StepOutput& o) { return o.is_ref; });
}

bool is_check(const Step& s) {
  return s.kind == StepKind::kKernel && s.row &&
         (s.node->type() == "Assert" || std::ranges::find(kChecks, s.node->type()) != kChecks.end());
}

namespace {

// More waits than this are not handed on one by one.
constexpr size_t kMostHandedOn = 32;

bool is_gone(const StepGraph& g, const std::vector<bool>& idle, int i) {
  return idle[i] && g.steps[i].kind == StepKind::kConst;
}

// Whoever waits for a step that does nothing any more waits for what it would have waited for.
void hand_on_waits(StepGraph& g, const std::vector<bool>& idle) {
  std::vector<int> waits;
  for (size_t i = 0; i < g.steps.size(); ++i) {
    Step& s = g.steps[i];
    if (std::ranges::any_of(s.controls, [&](int c) { return is_gone(g, idle, c); })) {
      waits.clear();
      for (const int c : s.controls)
        if (!is_gone(g, idle, c)) waits.push_back(c);
        else waits.insert(waits.end(), g.steps[c].controls.begin(), g.steps[c].controls.end());
      std::ranges::sort(waits);
      waits.erase(std::ranges::unique(waits).begin(), waits.end());
      s.controls = waits;
    }
    if (idle[i] && s.controls.size() <= kMostHandedOn) s.kind = StepKind::kConst;
  }
  for (size_t i = 0; i < g.steps.size(); ++i)
    if (is_gone(g, idle, static_cast<int>(i))) g.steps[i].controls.clear();
}

// Who takes a step's results, and who waits for it.
struct Uses {
  std::vector<int> taken, waited;

  explicit Uses(const StepGraph& g) : taken(g.steps.size()), waited(g.steps.size()) {
    for (const Step& s : g.steps) {
      for (Port p : s.inputs) ++taken[p.step];
      for (int c : s.controls) ++waited[c];
    }
    for (Port p : g.fetches) ++taken[p.step];
    for (const auto& life : g.fetch_lives)
      for (int i : life) ++taken[i];
  }
};

}  // namespace

void drop_idle_work(StepGraph& g) {
  if (Joiner::branches(g)) return;
  Uses uses(g);
  std::vector<bool> idle(g.steps.size());
  for (size_t i = g.steps.size(); i-- > 0;) {  // users first
    Step& s = g.steps[i];
    // One that nobody waits for was asked for by name.
    if (uses.taken[i] > 0 || uses.waited[i] == 0 || !has_no_effect(g, s)) continue;
    for (Port p : s.inputs) {
      --uses.taken[p.step];
      if (g.steps[p.step].is_value()) continue;
      ++uses.waited[p.step];
      s.controls.push_back(p.step);
    }
    s.row = nullptr;
    s.kernel = {};
    s.inputs.clear();
    s.outputs.clear();
    idle[i] = true;
  }
  hand_on_waits(g, idle);
}

}  // namespace emplace
