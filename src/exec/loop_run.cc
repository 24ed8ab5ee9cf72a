#include "exec/loop_run.h"

#include <algorithm>

#include "exec/overlap.h"
#include "kernel/pending.h"

namespace emplace {
namespace {

bool reads_variable(const Step& s) { return s.node->type() == "ReadVariableOp"; }

// A variable whose next value is a kernel's, of known shape: it lies in two pieces of memory by
// turns, so that a round takes none.
bool takes_turns(const LoopPlan& loop, size_t i) {
  const Port p = loop.round.fetches[i];
  const Step& s = loop.round.steps[p.step];
  const StepOutput& out = s.outputs[p.output];
  if (s.kind != StepKind::kKernel || !s.row || s.row->traits.forwards || reads_variable(s)) return false;
  if (!is_plain(out.dtype) || out.is_ref || out.space != kHostSpace || p.output >= 32) return false;
  if (!out.shape.is_fully_known() || out.shape.num_elements() == 0) return false;
  return std::count(loop.round.fetches.begin(), loop.round.fetches.end(), p) == 1;
}

CallSite& maker_of(Program& p, uint32_t slot) {
  for (CallSite& site : p.sites)
    for (int k = 0; k < site.num_outputs; ++k)
      if (site.operands[site.num_inputs + k] == slot) return site;
  throw internal_error("nobody makes a loop's variable");
}

RoundPlan round_plan(LoopPlan& loop) {
  RoundPlan r;
  Program& p = *loop.program;
  r.program = loop.program;
  for (size_t i = 0; i < p.feed_slots.size(); ++i)
    r.feeds.push_back(static_cast<uint32_t>(p.feed_slots[i]));
  if (loop.overlaps) {
    r.num_received = loop.num_variables;
    r.most_rounds = most_rounds(loop);
  }
  for (size_t i = r.num_received; i < loop.num_variables; ++i) {
    const bool turns = takes_turns(loop, i);
    r.variables.push_back({p.fetch_slots[i], turns, {}});
    if (!turns) continue;
    const Port port = loop.round.fetches[i];
    r.variables.back().shape = loop.round.out(port).shape;
    maker_of(p, p.fetch_slots[i]).planned |= 1u << port.output;
  }
  r.results.assign(p.fetch_slots.begin() + static_cast<int64_t>(loop.num_variables),
                   p.fetch_slots.end());
  r.goes_on = p.fetch_checks.back();
  r.result_checks.assign(p.fetch_checks.begin() + static_cast<int64_t>(loop.num_variables),
                         p.fetch_checks.end() - 1);
  return r;
}

void run_here(const RoundPlan& plan, KernelContext& c, Instance& caller) {
  std::unique_ptr<Instance> round = plan.program->lease();
  round->enter_loop(plan, c, caller, true);
  for (;;) {
    round->run_round_in_order();
    if (caller.failed()) break;
    if (!round->lives(plan.goes_on)) {
      put_results(plan, *round, c);
      break;
    }
    round->next_round(plan);
  }
  round->leave_loop();
  plan.program->give_back(std::move(round));
}

// A loop under way whose rounds others run. Deletes itself when it is over.
class Rounds {
 public:
  Rounds(const RoundPlan& plan, KernelContext& c, Instance& caller)
      : plan_(plan), caller_(caller), round_(plan.program->lease()), continuation_(c.suspend()) {
    round_->enter_loop(plan, continuation_->context(), caller, false);
  }

  void go() {
    while (round_->start_round(&Rounds::resume, this))
      if (!another()) return;
  }

 private:
  static void resume(void* self) {
    Rounds& rounds = *static_cast<Rounds*>(self);
    if (rounds.another()) rounds.go();
  }

  // After a round: prepares the next one, or ends and is gone.
  bool another() {
    std::optional<Error> error;
    try {
      if (!caller_.failed()) {
        if (round_->lives(plan_.goes_on)) {
          round_->next_round(plan_);
          return true;
        }
        put_results(plan_, *round_, continuation_->context());
      }
    } catch (const Error& e) {
      error = e;
    } catch (const std::exception& e) {
      error = internal_error(e.what());
    }
    end(std::move(error));
    return false;
  }

  void end(std::optional<Error> error) {
    round_->leave_loop();
    plan_.program->give_back(std::move(round_));
    std::unique_ptr<Continuation> continuation = std::move(continuation_);
    delete this;
    conclude(std::move(continuation), std::move(error));
  }

  const RoundPlan& plan_;
  Instance& caller_;
  std::unique_ptr<Instance> round_;
  std::unique_ptr<Continuation> continuation_;
};

void run_loop(const void* state, KernelContext& c) {
  const auto& plan = *static_cast<const RoundPlan*>(state);
  auto& caller = static_cast<Instance&>(*c.host_);  // loops are only planned, never run by themselves
  if (plan.program->in_order_only_possible) return run_here(plan, c, caller);
  if (plan.num_received > 0) return run_overlapping(plan, c, caller);
  (new Rounds(plan, c, caller))->go();
}

}  // namespace

void put_results(const RoundPlan& plan, Instance& round, KernelContext& c) {
  for (size_t k = 0; k < plan.results.size(); ++k) {
    if (!round.lives(plan.result_checks[k]))
      throw invalid_argument("the loop ended without a value for one of its results");
    c.set_output(static_cast<int>(k), round.own_value(plan.results[k]));
  }
}

Prepared loop_kernel(LoopPlan& loop) {
  return {&run_loop, std::make_shared<const RoundPlan>(round_plan(loop))};
}

}  // namespace emplace
