#include "exec/lives.h"

#include <algorithm>
#include <unordered_set>

namespace emplace {
namespace {

using Gates = std::vector<int>;  // sorted

bool contains(const Gates& all, int g) { return std::binary_search(all.begin(), all.end(), g); }

// What is alive only where another one is need not be asked.
void reduce(const StepGraph& g, Gates& gates) {
  std::sort(gates.begin(), gates.end());
  gates.erase(std::unique(gates.begin(), gates.end()), gates.end());
  if (gates.size() < 2) return;
  Gates found;
  std::unordered_set<int> implied;  // as many as there are, though ways to them may be many more
  const auto imply = [&](int x) {
    if (g.steps[x].kind != StepKind::kGate) return;
    for (int own : g.steps[x].flow->gates)
      if (implied.insert(own).second) found.push_back(own);
  };
  for (int x : gates) imply(x);
  for (size_t i = 0; i < found.size(); ++i) imply(found[i]);  // nested deeper
  std::erase_if(gates, [&](int x) { return implied.contains(x); });
}

// A gate's own `gates` are what must be open for it to be asked; taking the gate means itself.
void add_step(const StepGraph& g, int step, Gates& gates) {
  if (step < 0) return;
  const Step& s = g.steps[step];
  if (s.kind == StepKind::kGate || (s.kind == StepKind::kMerge && contains(s.flow->gates, step)))
    gates.push_back(step);
  else
    gates.insert(gates.end(), s.flow->gates.begin(), s.flow->gates.end());
}

// All the gates of one question: exactly one of them is open.
bool complete(const StepGraph& g, const Gates& gates) {
  const Step& first = g.steps[gates[0]];
  if (first.kind != StepKind::kGate) return false;
  const int branches = first.flow->num_branches;
  const size_t wanted = branches == 0 ? 2 : static_cast<size_t>(branches);
  if (gates.size() != wanted) return false;
  std::vector<bool> seen(wanted);
  for (int x : gates) {
    const Step& s = g.steps[x];
    if (s.kind != StepKind::kGate || !(s.inputs == first.inputs) ||
        s.flow->gates != first.flow->gates ||
        s.flow->num_branches != branches ||
        seen[static_cast<size_t>(s.flow->branch)])
      return false;
    seen[static_cast<size_t>(s.flow->branch)] = true;
  }
  return true;
}

// A merge of both branches lives where the question does.
Gates of_merge(const StepGraph& g, int merge) {
  const Step& s = g.steps[merge];
  Gates deciding;
  for (const auto& arm : s.flow->arms) {
    Gates gates = gates_of(g, arm);
    if (gates.empty()) return {};
    if (gates.size() != 1) return {merge};
    deciding.push_back(gates[0]);
  }
  if (deciding.empty()) return {};
  return complete(g, deciding) ? g.steps[deciding[0]].flow->gates : Gates{merge};
}

}  // namespace

std::vector<int> gates_of(const StepGraph& g, std::span<const int> steps) {
  Gates gates;
  for (int s : steps) add_step(g, s, gates);
  reduce(g, gates);
  return gates;
}

void find_gates(StepGraph& g) {
  const auto is_gate = [](const Step& s) { return s.kind == StepKind::kGate; };
  if (std::none_of(g.steps.begin(), g.steps.end(), is_gate)) return;
  const auto set = [](Step& s, Gates gates) {
    if (gates != s.flow->gates) s.flow.set().gates = std::move(gates);
  };
  std::vector<int> sources;
  for (size_t i = 0; i < g.steps.size(); ++i) {
    Step& s = g.steps[i];
    if (s.kind == StepKind::kMerge) {
      set(s, of_merge(g, static_cast<int>(i)));
      continue;
    }
    if (s.own_life) {
      set(s, gates_of(g, s.flow->life));
      continue;
    }
    sources = s.controls;
    for (Port p : s.inputs) sources.push_back(p.step);
    set(s, gates_of(g, sources));
  }
}

}  // namespace emplace
