// How rounds that overlap run.
#include <mutex>
#include <optional>

#include "exec/overlap.h"
#include "kernel/pending.h"

namespace emplace {
namespace {

// Where one round leaves a variable for the next.
class Cell {
 public:
  // Gives it to a kernel, which suspends itself where it is not there yet.
  void take(KernelContext& c) {
    if (state_.load(std::memory_order_acquire) == here()) return hand_to(c);
    std::unique_ptr<Continuation> rest = c.suspend();
    Continuation* was = nullptr;
    if (state_.compare_exchange_strong(was, rest.get(), std::memory_order_acq_rel)) {
      rest.release();
      return;
    }
    if (was == here()) hand_to(rest->context());
    rest->done();
  }

  void put(Tensor value) {
    value_ = std::move(value);
    Continuation* const was = state_.exchange(here(), std::memory_order_acq_rel);
    if (!was || was == gone()) return;
    const std::unique_ptr<Continuation> waiting(was);
    hand_to(waiting->context());
    waiting->done();
  }

  // Of a failed step: nothing may come, so whoever waits goes on without.
  void give_up() {
    Continuation* was = state_.load(std::memory_order_acquire);
    while (was != here() && was != gone())
      if (state_.compare_exchange_weak(was, gone(), std::memory_order_acq_rel)) {
        if (const std::unique_ptr<Continuation> waiting(was); waiting) waiting->done();
        return;
      }
  }

  void empty() { state_.store(nullptr, std::memory_order_relaxed); }

 private:
  static Continuation* mark(int i) {
    alignas(16) static char marks[32];
    return reinterpret_cast<Continuation*>(&marks[16 * i]);
  }
  static Continuation* here() { return mark(0); }
  static Continuation* gone() { return mark(1); }
  void hand_to(KernelContext& c) { c.set_output(0, std::move(value_)); }

  std::atomic<Continuation*> state_{nullptr};  // null, who waits for it, here() or gone()
  Tensor value_;
};

class Overlapping;

struct Round {
  Round(Overlapping& loop, size_t variables) : loop(loop), inbox(variables) {}
  Overlapping& loop;
  std::vector<Cell> inbox;
  std::unique_ptr<Instance> instance;
  Round* next = nullptr;  // whose inbox it fills
  bool goes_on = false;
};

Round& round_of(const KernelContext& c) {
  return *static_cast<Round*>(static_cast<Instance&>(*c.host_).idle_arg());
}

// A loop under way. Deletes itself when it is over: that is when no round is under way and none is
// to come, so whoever is inside of a round may use it.
class Overlapping {
 public:
  Overlapping(const RoundPlan& plan, KernelContext& c, Instance& caller)
      : plan_(plan), caller_(caller), most_(plan.most_rounds) {
    idle_.push_back(plan.program->lease());
    coming_ = fresh_round();
    continuation_ = c.suspend();
    for (size_t i = 0; i < plan.num_received; ++i)
      coming_->inbox[i].put(continuation_->context().input(static_cast<int>(i)));
  }

  // The round that is coming is to come: starts it, now or when another is over.
  void let_come() {
    Round* next;
    {
      const std::lock_guard lock(mutex_);
      expected_ = true;
      next = take_next();
    }
    if (next) start(next);
  }

 private:
  Round* fresh_round() {
    if (spare_.empty()) {
      rounds_.push_back(std::make_unique<Round>(*this, plan_.num_received));
      return rounds_.back().get();
    }
    Round* const round = spare_.back();
    spare_.pop_back();
    for (Cell& cell : round->inbox) cell.empty();
    return round;
  }

  // One that may start now, counted as under way; under the lock. Where memory is short there are
  // just fewer at once.
  Round* take_next() {
    if (!expected_ || under_way_ >= most_ || caller_.failed()) return nullptr;
    if (idle_.empty()) {
      try {
        idle_.push_back(plan_.program->lease());
      } catch (const std::exception&) {
        most_ = under_way_;  // at least one: with none under way there is an idle instance
        return nullptr;
      }
    }
    Round* const round = coming_;
    round->instance = std::move(idle_.back());
    idle_.pop_back();
    round->next = coming_ = fresh_round();
    round->goes_on = false;
    expected_ = false;
    ++under_way_;
    return round;
  }

  void start(Round* round) {
    while (round) {
      round->instance->enter_loop(plan_, continuation_->context(), caller_, false);
      if (!round->instance->start_round(&Overlapping::idle, round)) return;  // `this` may be gone
      round = finished(*round);
    }
  }

  static void idle(void* arg) {
    Round& round = *static_cast<Round*>(arg);
    Overlapping& loop = round.loop;
    if (Round* const next = loop.finished(round)) loop.start(next);
  }

  // Nobody is inside of the round any more. Returns one that is to start in its place.
  Round* finished(Round& round) {
    std::optional<Error> error;
    if (caller_.failed())  // what it passed over, the next need not wait for
      for (Cell& cell : round.next->inbox) cell.give_up();
    else if (!round.goes_on)
      error = try_put_results(*round.instance);
    round.instance->leave_loop();
    Round* next;
    bool over;
    {
      const std::lock_guard lock(mutex_);
      if (error) error_ = std::move(error);
      idle_.push_back(std::move(round.instance));
      spare_.push_back(&round);
      --under_way_;
      next = take_next();
      over = under_way_ == 0;
    }
    if (over) end();
    return next;
  }

  std::optional<Error> try_put_results(Instance& last) {
    try {
      put_results(plan_, last, continuation_->context());
    } catch (const Error& e) {
      return e;
    } catch (const std::exception& e) {
      return internal_error(e.what());
    }
    return {};
  }

  void end() {
    for (auto& instance : idle_) plan_.program->give_back(std::move(instance));
    std::unique_ptr<Continuation> continuation = std::move(continuation_);
    std::optional<Error> error = std::move(error_);
    delete this;
    conclude(std::move(continuation), std::move(error));
  }

  const RoundPlan& plan_;
  Instance& caller_;
  std::unique_ptr<Continuation> continuation_;
  std::mutex mutex_;  // guards what follows
  size_t most_;
  size_t under_way_ = 0;
  bool expected_ = false;  // the round that is coming is to come
  Round* coming_ = nullptr;
  std::vector<std::unique_ptr<Round>> rounds_;
  std::vector<Round*> spare_;
  std::vector<std::unique_ptr<Instance>> idle_;
  std::optional<Error> error_;
};

}  // namespace

void receive(const void* state, KernelContext& c) {
  round_of(c).inbox[*static_cast<const size_t*>(state)].take(c);
}

// What the round still writes over is copied.
void deliver(const void* state, KernelContext& c) {
  Round& round = round_of(c);
  Tensor value = static_cast<Instance&>(*c.host_).own_value(c.site_->operands[0]);
  round.next->inbox[*static_cast<const size_t*>(state)].put(std::move(value));
}

void go_on(const void*, KernelContext& c) {
  Round& round = round_of(c);
  round.goes_on = true;
  round.loop.let_come();
}

void run_overlapping(const RoundPlan& plan, KernelContext& c, Instance& caller) {
  (new Overlapping(plan, c, caller))->let_come();
}

}  // namespace emplace
