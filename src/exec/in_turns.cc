#include "exec/in_turns.h"

#include <algorithm>
#include <unordered_map>

namespace emplace {

void compute_in_turns(StepGraph& g) {
  const auto flows = [](const Step& s) {
    return s.kind == StepKind::kGate || s.kind == StepKind::kMerge || s.kind == StepKind::kLoop;
  };
  if (std::ranges::any_of(g.steps, flows)) return;
  std::unordered_map<const Device*, int> last;
  for (size_t i = 0; i < g.steps.size(); ++i) {
    Step& s = g.steps[i];
    if (s.kind != StepKind::kKernel || !s.row || !s.device || !s.device->is_async()) continue;
    const auto [at, first] = last.try_emplace(s.device, static_cast<int>(i));
    if (first) continue;
    s.controls.push_back(at->second);
    at->second = static_cast<int>(i);
  }
}

}  // namespace emplace
