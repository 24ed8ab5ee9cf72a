// How a loop whose rounds overlap is planned.
#include "exec/overlap.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "exec/lives.h"
#include "exec/variables.h"

namespace emplace {
namespace {

constexpr int64_t kMostRounds = 64;
constexpr int64_t kHostRoom = int64_t{1} << 30;  // for the rounds beside the first
constexpr int64_t kShare = 4;  // … one in so many bytes of a device's memory

// Stateful by name only: they make a name, or are ordered by the flow that they take and give.
constexpr std::array<std::string_view, 7> kOrdered = {
    "VarHandleOp",        "Variable",          "VariableV2",         "TensorArrayReadV3",
    "TensorArrayWriteV3", "TensorArraySizeV3", "TensorArrayGatherV3"};

// Not one of those that run one after another on the calling thread.
bool leaves_the_line(const Step& s, Device& host) {
  if (s.is_value()) return false;
  if (s.async() || (s.row && s.row->traits.blocks)) return true;
  if (s.flow->loop && !s.flow->loop->program->in_order_only_possible) return true;
  return s.device && !shares_threads(*s.device, host);
}

Step hand_over_step(const StepGraph& g, StepKind kind, int of, Device& host) {
  const Step& from = g.steps[of];
  Step step;
  step.kind = kind;
  step.node = from.node;
  step.name = from.name;
  step.source = from.source;
  step.device = &host;
  return step;
}

// It runs when all of `life` lives.
void live_by(const StepGraph& g, std::span<const int> life, Step& step) {
  step.controls = gates_of(g, life);
  if (!step.controls.empty()) step.flow.set().gates = step.controls;
}

void add_hand_overs(LoopPlan& loop, Device& host) {
  StepGraph& g = loop.round;
  loop.overlaps = true;
  for (size_t i = 0; i < loop.num_variables; ++i) {
    Step& variable = g.steps[g.feeds[i]];
    variable.kind = StepKind::kReceive;
    variable.device = &host;
    Step next = hand_over_step(g, StepKind::kDeliver, g.fetches[i].step, host);
    next.inputs = {g.fetches[i]};
    live_by(g, g.fetch_lives[i], next);
    g.steps.push_back(std::move(next));
  }
  Step last = hand_over_step(g, StepKind::kGoOn, loop.goes_on[0], host);
  live_by(g, loop.goes_on, last);
  g.steps.push_back(std::move(last));
}

// With the loops inside.
int64_t round_bytes(const LoopPlan& loop, size_t space) {
  const std::vector<int64_t>& own = loop.program->arena_bytes;
  int64_t bytes = space < own.size() ? own[space] : 0;
  for (const Step& s : loop.round.steps)
    if (const LoopPlan* inner = s.flow->loop.get())
      bytes += (inner->overlaps ? static_cast<int64_t>(most_rounds(*inner)) : 1) *
               round_bytes(*inner, space);
  return bytes;
}

}  // namespace

bool has_effect(const StepGraph& g, const Step& s) {
  if (s.kind == StepKind::kLoop) return s.flow->loop->has_effects;
  if (s.kind != StepKind::kKernel || !s.row || only_looks(s)) return false;
  if (std::ranges::find(kOrdered, s.node->type()) != kOrdered.end()) return false;
  return s.node->op().stateful || std::ranges::any_of(s.outputs, is_handle) ||
         std::ranges::any_of(s.inputs, [&](Port p) { return is_handle(g.out(p)); });
}

void let_overlap(LoopPlan& loop, Device& host) {
  StepGraph& g = loop.round;
  const auto leaves = [&](const Step& s) { return leaves_the_line(s, host); };
  // What a card has recorded belongs to one instance: its rounds stay with theirs.
  const auto records = [](const Device* d) { return d->can_record(); };
  if (!loop.overlaps && loop.parallel_iterations > 1 && !loop.has_effects &&
      std::ranges::any_of(g.steps, leaves) && std::ranges::none_of(g.devices, records))
    add_hand_overs(loop, host);
  if (!loop.overlaps) return;
  size_t received = 0, delivered = 0;
  for (Step& s : g.steps) {
    if (s.kind == StepKind::kReceive)
      s.kernel = {&receive, std::make_shared<const size_t>(received++)};
    else if (s.kind == StepKind::kDeliver)
      s.kernel = {&deliver, std::make_shared<const size_t>(delivered++)};
    else if (s.kind == StepKind::kGoOn)
      s.kernel = {&go_on, nullptr};
  }
}

size_t most_rounds(const LoopPlan& loop) {
  const Program& p = *loop.program;
  int64_t most = std::min(loop.parallel_iterations, kMostRounds);
  for (size_t space = 0; space < p.arena_bytes.size(); ++space) {
    const int64_t room =
        space == kHostSpace ? kHostRoom : p.devices[space - 1]->memory_limit() / kShare;
    if (const int64_t bytes = round_bytes(loop, space)) most = std::min(most, 1 + room / bytes);
  }
  return static_cast<size_t>(most);
}

}  // namespace emplace
