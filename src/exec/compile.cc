#include <algorithm>

#include "device/pinned_host.h"
#include "exec/fuse.h"
#include "exec/idle.h"
#include "exec/in_turns.h"
#include "exec/islands.h"
#include "exec/late_updates.h"
#include "exec/line_up.h"
#include "exec/lives.h"
#include "exec/memory_plan.h"
#include "exec/order.h"
#include "exec/overlap.h"
#include "exec/program.h"
#include "exec/tuples.h"
#include "exec/variables.h"

namespace emplace {
namespace {

void nothing(const void*, KernelContext&) {}

constexpr size_t kPinnedBytes = size_t{64} << 10;  // smaller results are no hurry

// What a card brings to the host for somebody outside goes straight into memory that it can write.
bool goes_to_pinned(KernelContext& c, const Tensor& from) {
  const CallSite& site = *c.site_;
  if ((site.planned & 1) || !(site.host_outputs & 1) || from.bytes() < kPinnedBytes) return false;
  auto* const device = dynamic_cast<PinnedHost*>(site.device);
  if (device)
    c.set_output(0, Tensor(from.dtype(), from.shape(), device->allocate_pinned(from.bytes())));
  return device;
}

void copy_bytes(const void*, KernelContext& c) {
  const Tensor& from = c.input(0);
  Tensor& to = goes_to_pinned(c, from) ? c.output_slot(0) : c.output(0, from.shape());
  c.device().copy(to.raw(), from.raw(), from.bytes());
}

// Lays a step graph down as a program.
class Flattener {
 public:
  Flattener(StepGraph& g, const Users& users, const MemoryPlan& memory,
            const PlannerOptions& options, const LoopPlan* loop)
      : g_(g), users_(users), memory_(memory), options_(options), loop_(loop) {}

  std::shared_ptr<Program> run(Device* host) {
    p_->devices = g_.devices;
    p_->lanes = {host};
    p_->lane_sizes = {0};
    number_instructions();
    make_slots();
    make_calls();
    make_edges();
    make_guards();
    finish();
    return p_;
  }

 private:
  void number_instructions() {
    instruction_.assign(g_.steps.size(), -1);
    for (size_t i = 0; i < g_.steps.size(); ++i)
      if (!g_.steps[i].is_value()) {
        instruction_[i] = static_cast<int>(steps_.size());
        steps_.push_back(static_cast<int>(i));
      }
  }

  void make_slots() {
    p_->slots.resize(users_.num_slots());
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      look_ahead(g_, i);
      Step& s = g_.steps[i];
      for (size_t o = 0; o < s.outputs.size(); ++o) {
        const int slot = users_.slot({static_cast<int>(i), static_cast<int>(o)});
        SlotPlan& plan = p_->slots[slot];
        plan.dtype = s.outputs[o].dtype;
        plan.space = s.outputs[o].space;
        plan.offset = memory_.offset[slot];
        if (plan.offset >= 0) plan.shape = s.outputs[o].shape;
        if (s.kind == StepKind::kConst) plan.constant = add_constant(s);
        else if (plan.offset < 0) p_->dynamic_slots.push_back(static_cast<uint32_t>(slot));
      }
    }
    p_->arena_bytes = memory_.arena_bytes;
    p_->largest_slot = memory_.largest_slot;
    for (const int slot : p_->largest_slot)
      p_->largest_makers.push_back(slot < 0 ? Label{} : label(g_.steps[users_.step_of(slot)]));
    for (int f : g_.feeds) {
      p_->feed_slots.push_back(f < 0 ? -1 : users_.slot({f, 0}));
      p_->feed_types.push_back(g_.steps[f].outputs[0].dtype);
    }
    for (Port f : g_.fetches) p_->fetch_slots.push_back(static_cast<uint32_t>(users_.slot(f)));
  }

  int32_t add_constant(const Step& s) {
    p_->constants.push_back(constant(s));
    return static_cast<int32_t>(p_->constants.size()) - 1;
  }

  // A constant on a device is copied there once, with the plan.
  static Tensor constant(const Step& s) {
    const Tensor& value = s.outputs[0].value();
    if (s.outputs[0].space == kHostSpace) return value;
    try {
      BufferPtr buffer = s.device->allocate(value.bytes(), *s.name);
      s.device->copy(buffer->data(), value.raw(), value.bytes());
      return Tensor(value.dtype(), value.shape(), std::move(buffer));
    } catch (Error& e) {
      e.at_node(*s.name, s.node->type()).on_device(s.device->name()).from_source(*s.source);
      throw;
    }
  }

  uint16_t lane_of(Device* device) {
    if (shares_threads(*device, *p_->lanes[0])) return 0;
    for (size_t i = 0; i < p_->lanes.size(); ++i)
      if (p_->lanes[i] == device) return static_cast<uint16_t>(i);
    p_->lanes.push_back(device);
    p_->lane_sizes.push_back(0);
    return static_cast<uint16_t>(p_->lanes.size() - 1);
  }

  void make_calls() {
    p_->operands.reserve(users_.num_uses() + users_.num_slots());  // sites point into these
    p_->types.reserve(users_.num_slots());
    p_->calls.reserve(steps_.size());
    p_->sites.reserve(steps_.size());
    p_->labels.reserve(steps_.size());
    p_->keep.reserve(steps_.size());
    p_->wiring.resize(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) make_call(k);
  }

  static Label label(const Step& s) {
    // A snapshot into memory that is not planned is made each step, behind the write before it.
    const bool loose_snapshot = s.snapshot && !s.outputs[0].shape.is_fully_known();
    const bool replays =
        !loose_snapshot && (s.row ? s.row->traits.replays : s.kind == StepKind::kRead);
    return {s.name, s.source, s.node, s.kind, s.device, replays, false, s.joined || !s.row};
  }

  void make_call(size_t k) {
    look_ahead(g_, static_cast<size_t>(steps_[k]));
    Step& s = g_.steps[steps_[k]];
    if (s.kind == StepKind::kCopy) s.kernel = {&copy_bytes, nullptr};
    if (s.kind == StepKind::kConst || memory_.elided[steps_[k]]) s.kernel = {&nothing, nullptr};
    if (s.kind == StepKind::kFeed) s.kernel = {&nothing, nullptr};
    if (!s.kernel.run) s.kernel.run = &nothing;
    p_->calls.push_back({s.kernel.run, s.kernel.state.get()});
    if (s.kernel.state) p_->keep.push_back(std::move(s.kernel.state));
    CallSite site;
    site.operands = p_->operands.data() + p_->operands.size();
    site.output_types = p_->types.data() + p_->types.size();
    site.count(s.inputs.size(), s.outputs.size());
    site.own_aliases = s.own_aliases;
    site.device = s.device;
    site.node = s.name;
    for (Port in : s.inputs) p_->operands.push_back(static_cast<uint32_t>(users_.slot(in)));
    for (size_t o = 0; o < s.outputs.size(); ++o) {
      const int slot = users_.slot({steps_[k], static_cast<int>(o)});
      p_->operands.push_back(static_cast<uint32_t>(slot));
      p_->types.push_back(s.outputs[o].dtype);
      if (o < 32 && memory_.offset[slot] >= 0) site.planned |= 1u << o;
      if (o < 32 && s.outputs[o].space == kHostSpace) site.host_outputs |= 1u << o;
    }
    p_->sites.push_back(site);
    p_->labels.push_back(label(s));
    Wiring& w = p_->wiring[k];
    w.queue = static_cast<int16_t>(s.queue);
    w.blocks = (s.row && s.row->traits.blocks) || s.kind == StepKind::kReceive;
    if (s.flow->loop) w.blocks = !s.flow->loop->program->in_order_only_possible;
    if (!s.async()) ++p_->lane_sizes[w.lane = lane_of(s.device)];
  }

  // An edge out of a queue needs the value itself, on the host, when its taker runs there, or takes
  // it as a host-memory argument (which a GPU call reads when it is enqueued).
  bool needs_completion(const Step& from, int from_step, const Step& to) const {
    if (!from.async()) return false;
    if (!to.async()) return true;
    for (size_t i = 0; i < to.inputs.size(); ++i)
      if (to.inputs[i].step == from_step && to.kind == StepKind::kKernel &&
          g_.out(to.inputs[i]).space == kHostSpace)
        return true;
    return false;
  }

  // Looks at every edge twice: to count what each instruction releases, then to write it down.
  void make_edges() {
    std::vector<Edge> edges;
    edges.reserve(steps_.size() * 2);
    std::vector<int> preds;
    for (size_t k = 0; k < steps_.size(); ++k) {
      look_ahead(g_, static_cast<size_t>(steps_[k]));
      const Step& to = g_.steps[steps_[k]];
      predecessors(g_, steps_[k], preds);
      Wiring& w = p_->wiring[k];
      w.join = static_cast<uint32_t>(preds.size());
      w.waits = static_cast<uint32_t>(p_->waits.size());
      for (int p : preds) {
        const int from = instruction_[p];
        const Step& source = g_.steps[p];
        const bool notified = needs_completion(source, p, to);
        edges.push_back({static_cast<uint32_t>(from), static_cast<uint32_t>(k), notified});
        Wiring& before = p_->wiring[from];
        ++(notified ? before.num_notified : before.num_released);
        before.notify |= notified;
        if (!notified && source.async() &&
            !(source.device == to.device && source.queue == to.queue))
          add_wait(from, w);
      }
    }
    lay_down(edges);
  }

  struct Edge {
    uint32_t from, to;
    bool notified;
  };

  // Behind each other, for each instruction: whom it releases, then whom it notifies.
  void lay_down(const std::vector<Edge>& edges) {
    std::vector<uint32_t> next;
    next.reserve(steps_.size());
    uint32_t end = 0;
    for (Wiring& w : p_->wiring) {
      next.push_back(w.successors = end);
      end += w.num_released + w.num_notified;
    }
    p_->successors.resize(edges.size());
    for (const bool notified : {false, true})
      for (const Edge& e : edges)
        if (e.notified == notified) p_->successors[next[e.from]++] = e.to;
  }

  void make_guards() {
    bool any = false;
    for (int i : steps_) any |= g_.steps[i].kind == StepKind::kGate || g_.steps[i].kind == StepKind::kMerge;
    if (!any) return;
    p_->guards.resize(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) {
      const Step& s = g_.steps[steps_[k]];
      Guard& guard = p_->guards[k];
      if (s.kind == StepKind::kMerge) {
        guard.kind = Guard::Kind::kMerge;
        guard.arms = static_cast<uint32_t>(p_->arms.size());
        for (const auto& arm : s.flow->arms) p_->arms.push_back(checks(gates_of(g_, arm)));
        const int number = s.outputs.size() > 1 ? users_.slot({steps_[k], 1}) : -1;
        guard.numbered = number >= 0 && (users_.fetched(number) || !users_.of(number).empty());
        continue;
      }
      guard.checks = checks(s.flow->gates);
      if (s.kind != StepKind::kGate) continue;
      guard.kind = Guard::Kind::kGate;
      guard.branch = s.flow->branch;
      guard.num_branches = s.flow->num_branches;
    }
    for (const auto& life : g_.fetch_lives) p_->fetch_checks.push_back(checks(gates_of(g_, life)));
    if (loop_) p_->fetch_checks.push_back(checks(gates_of(g_, loop_->goes_on)));
    else p_->fetch_checks.emplace_back();
  }

  Checks checks(const std::vector<int>& gates) {
    const Checks c{static_cast<uint32_t>(p_->check_list.size()),
                   static_cast<uint32_t>(gates.size())};
    for (int g : gates) p_->check_list.push_back(static_cast<uint32_t>(instruction_[g]));
    return c;
  }

  void add_wait(int from, Wiring& to) {
    if (static_cast<int>(planned_waits_++) == options_.drop_wait) return;
    Wiring& source = p_->wiring[from];
    if (source.event < 0) {
      source.event = static_cast<int32_t>(p_->event_devices.size());
      p_->event_devices.push_back(p_->labels[from].device);
    }
    p_->waits.push_back(source.event);
    ++to.num_waits;
  }

  void finish() {
    bool plain = true;
    for (const Wiring& w : p_->wiring) plain &= w.queue < 0 && w.lane == 0 && !w.blocks;
    p_->in_order_only_possible = plain;
    p_->count_completions();
  }

  StepGraph& g_;
  const Users& users_;
  const MemoryPlan& memory_;
  const PlannerOptions& options_;
  const LoopPlan* const loop_;
  std::shared_ptr<Program> p_ = std::make_shared<Program>();
  std::vector<int> instruction_;  // by step, -1: none
  std::vector<int> steps_;        // by instruction
  size_t planned_waits_ = 0;
};

}  // namespace

std::shared_ptr<Program> compile_steps(StepGraph& g, PlanEnvironment& env,
                                       const PlannerOptions& options, LoopPlan* loop) {
  if (options.in_turns) compute_in_turns(g);
  assign_queues(g);
  if (loop) let_overlap(*loop, *env.host());
  const Order order(g);
  const Users users(g);
  plan_variables(g, order, users);
  const MemoryPlan memory = plan_memory(g, order, users);
  auto program = Flattener(g, users, memory, options, loop).run(env.host());
  // Names of inlined nodes and the functions they come from outlive the step graph.
  program->keep.push_back(g.names);
  program->keep.push_back(
      std::make_shared<std::vector<std::shared_ptr<const Function>>>(g.functions));
  make_islands(*program, options);
  return program;
}

std::shared_ptr<Program> compile(const Graph& graph, const Signature& signature,
                                 std::span<const Shape> feed_shapes, PlanEnvironment& env,
                                 const PlannerOptions& options) {
  StepGraph g = build_steps(graph, signature, env);
  specialise(g, feed_shapes, env);
  drop_idle_work(g);
  release_tuples(g);
  fuse_elementwise(g, env.kernels().find("_FusedElementwise", "CPU", {}));
  fuse_for_cards(g, env);
  let_updates_wait(g);
  line_up(g);
  return compile_steps(g, env, options);
}

}  // namespace emplace
