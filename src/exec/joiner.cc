#include "exec/joiner.h"

#include <algorithm>
#include <queue>

namespace emplace {

Joiner::Joiner(StepGraph& g) : g_(g), users_(g) {
  first_waiter_.assign(g.steps.size(), static_cast<int>(g.steps.size()));
  for (size_t i = 0; i < g.steps.size(); ++i)
    for (int c : g.steps[i].controls)
      first_waiter_[c] = std::min(first_waiter_[c], static_cast<int>(i));
}

bool Joiner::branches(const StepGraph& g) {
  for (size_t i = 0; i < g.steps.size(); ++i) {
    look_ahead(g, i);
    const Step& s = g.steps[i];
    if (s.kind == StepKind::kGate || s.kind == StepKind::kMerge || !s.flow->gates.empty() ||
        s.own_life)
      return true;
  }
  return false;
}

bool Joiner::only_for(int i, int last, const std::vector<int>& group) const {
  if (waited_for_before(i, last) || users_.fetched(users_.slot({i, 0}))) return false;
  const auto outside = [&](int user) {
    return std::find(group.begin(), group.end(), user) == group.end();
  };
  for (int user : users_.of(Port{i, 0}))
    if (outside(user) && !gone_.contains(edge(i, user))) return false;
  const auto more = more_.find(i);
  return more == more_.end() || std::none_of(more->second.begin(), more->second.end(), outside);
}

void Joiner::copied(int i, const std::vector<int>& group, const std::vector<Port>& inputs) {
  for (int member : group) gone_.insert(edge(i, member));
  for (Port p : inputs) more_[p.step].push_back(group.back());
}

bool Joiner::drop_if_copied(int i) {
  if (users_.of(Port{i, 0}).empty() || !only_for(i, static_cast<int>(g_.steps.size()) - 1, {}) ||
      first_waiter_[i] < static_cast<int>(g_.steps.size()))
    return false;
  for (Port p : g_.steps[i].inputs) gone_.insert(edge(p.step, i));
  clear(g_.steps[i]);
  return true;
}

// Nearest first: when a producer is looked at, all who take from it have been.
std::vector<int> Joiner::group_of(int last, size_t most,
                                  const std::function<bool(int)>& fits) const {
  std::vector<int> group = {last};
  std::priority_queue<int> found;
  auto look = [&](int i) {
    for (Port p : g_.steps[i].inputs) found.push(p.step);
  };
  look(last);
  int before = -1;
  while (!found.empty() && group.size() < most) {
    const int i = found.top();
    found.pop();
    if (i == std::exchange(before, i) || !fits(i) || !only_for(i, last, group)) continue;
    group.push_back(i);
    look(i);
  }
  std::reverse(group.begin(), group.end());
  return group;
}

void Joiner::join(const std::vector<int>& group, std::vector<Port> inputs) {
  const int last = group.back();
  std::vector<int> controls;
  for (int i : group)
    controls.insert(controls.end(), g_.steps[i].controls.begin(), g_.steps[i].controls.end());
  g_.steps[last].inputs = std::move(inputs);
  g_.steps[last].controls = std::move(controls);
  g_.steps[last].joined = true;
  for (int i : group)
    if (i != last) silence(i, last);
}

void Joiner::clear(Step& s) const {
  s.row = nullptr;
  s.kernel = {};
  s.inputs.clear();
  s.controls.clear();
  s.outputs.clear();
  if (s.device && s.device->can_record()) s.kind = StepKind::kConst;  // not even an empty call
}

void Joiner::silence(int i, int last) {
  clear(g_.steps[i]);
  moved_.push_back({i, last});
  first_waiter_[last] = std::min(first_waiter_[last], first_waiter_[i]);
}

void Joiner::finish() {
  if (moved_.empty()) return;
  std::vector<int> now(g_.steps.size());
  for (size_t i = 0; i < now.size(); ++i) now[i] = static_cast<int>(i);
  for (auto [from, to] : moved_) now[from] = to;
  for (Step& s : g_.steps) {
    for (int& c : s.controls) c = now[c];
    std::sort(s.controls.begin(), s.controls.end());
    s.controls.erase(std::unique(s.controls.begin(), s.controls.end()), s.controls.end());
  }
  moved_.clear();
}

Prepared make_joined(const StepGraph& g, const KernelRow& row, const Step& step,
                     const std::vector<Port>& inputs, const AttrList& attrs) {
  std::vector<DType> in_types, out_types;
  std::vector<Shape> in_shapes, out_shapes;
  for (Port p : inputs) {
    in_types.push_back(g.out(p).dtype);
    in_shapes.push_back(g.out(p).shape);
  }
  for (const StepOutput& o : step.outputs) {
    out_types.push_back(o.dtype);
    out_shapes.push_back(o.shape);
  }
  const std::vector<const Tensor*> unknown(inputs.size(), nullptr);
  KernelInit init;
  init.op = &step.node->op();
  init.node = *step.name;
  init.attrs = &attrs;
  init.input_types = in_types;
  init.output_types = out_types;
  init.input_shapes = in_shapes;
  init.output_shapes = out_shapes;
  init.input_values = unknown;
  init.device = step.device;
  return row.make(init);
}

}  // namespace emplace
