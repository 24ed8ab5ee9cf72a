#include <algorithm>
#include <queue>
#include <utility>

#include "exec/builder.h"

namespace emplace {

// Hands on the memory of its input, in TensorFlow the variable's own. One that waits for something,
// or that something waits for, was put in its place by the user: what it read stays as read.
bool Builder::is_name(int step) const {
  const Step& s = g_.steps[step];
  return s.kind == StepKind::kKernel && s.node->type() == "Identity" && !s.outputs[0].is_ref &&
         s.controls.empty() && !awaited_.contains(step);
}

// Assign and its like hand on the reference they were given; a merge gives one of several. Asked of
// each step once: a chain of writes is as long as the user made it.
int Builder::variable_of(Port ref) {
  if (variables_.size() < g_.steps.size()) variables_.resize(g_.steps.size(), -1);
  std::vector<int> on_the_way;
  int at = ref.step;
  while (variables_[at] < 0) {
    on_the_way.push_back(at);
    const Step& s = g_.steps[at];
    Port before;
    if (s.kind == StepKind::kKernel)
      for (Port p : s.inputs)
        if (g_.out(p).is_ref) before = p;
    if (before.step < 0) break;
    at = before.step;
  }
  const int variable = variables_[at] < 0 ? at : variables_[at];
  for (int step : on_the_way) variables_[step] = variable;
  return variable;
}

void Builder::note_writer(int step) {
  for (Port p : g_.steps[step].inputs)
    if (g_.out(p).is_ref) writers_[variable_of(p)].push_back(step);
}

// Whether one of `from` is the writer or comes after it. Steps wait for earlier ones only.
bool Builder::waits_for(std::vector<int> from, int writer) const {
  std::unordered_set<int> seen;
  while (!from.empty()) {
    const int s = from.back();
    from.pop_back();
    if (s == writer) return true;
    if (s < writer || !seen.insert(s).second) continue;
    for (Port p : g_.steps[s].inputs) from.push_back(p.step);
    from.insert(from.end(), g_.steps[s].controls.begin(), g_.steps[s].controls.end());
  }
  return false;
}

// TensorFlow's reads of a reference variable (`v/read`) are other names for its memory: an operation
// that waits for a write sees what was written, whenever the read took place. So it gets a read of
// its own, which waits for what the operation waits for.
Port Builder::read_again(Port p, const Step& step) {
  Port value = p;
  while (is_name(value.step)) value = g_.steps[value.step].inputs[0];
  if (g_.steps[value.step].kind != StepKind::kRead) return p;
  const Port ref = g_.steps[value.step].inputs[0];
  const auto writers = writers_.find(variable_of(ref));
  if (writers == writers_.end()) return p;
  std::vector<int> before = step.controls;
  for (Port in : step.inputs)
    if (in.step != p.step && !g_.steps[in.step].is_value()) before.push_back(in.step);
  return waits_for_newer(before, value.step, writers->second) ? read(ref, before) : p;
}

// Whether one of `from` is, or comes after, a writer that the read does not come after. Looks at the
// latest steps first: a write after the read is the usual answer, and near.
bool Builder::waits_for_newer(const std::vector<int>& from, int read,
                              const std::vector<int>& writers) const {
  std::priority_queue<int> open(from.begin(), from.end());
  for (int last = -1; !open.empty() && open.top() >= writers.front();) {
    const int s = open.top();
    open.pop();
    if (s == std::exchange(last, s)) continue;
    if (std::ranges::binary_search(writers, s) && (s > read || !waits_for({read}, s))) return true;
    for (Port p : g_.steps[s].inputs) open.push(p.step);
    for (int c : g_.steps[s].controls) open.push(c);
  }
  return false;
}

}  // namespace emplace
