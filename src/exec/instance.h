#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/eventcount.h"
#include "base/stop_scope.h"
#include "base/work_deque.h"
#include "exec/program.h"
#include "exec/waiting.h"

namespace emplace {

class Rendezvous;

// What one instruction did in a traced step; nanoseconds of the steady clock.
struct Stamp {
  int64_t start = 0, end = 0;
  int64_t bytes = 0;  // of its outputs
  uint32_t thread = 0;
};

// The shapes that a call found and made.
struct OperandShapes {
  std::vector<Shape> inputs, outputs;
};

// What a traced step did.
struct StepTrace {
  struct Inside {
    const Label* label;
    Stamp stamp;
    OperandShapes shapes = {};
  };
  // Asked for by whoever runs the step:
  bool settles = false;      // calls on queues are waited for: stamps say what they took
  bool with_shapes = false;  // of what is no loop's
  bool whole_islands = false;  // they run as ever, and have stamps of their own
  std::vector<Stamp> stamps;   // by instruction; a start of 0: it did not run
  std::vector<OperandShapes> shapes;  // by instruction, with_shapes
  std::vector<Inside> inside;  // islands, and loops' programs round after round
  std::mutex mutex;            // guards `inside`
};

// How a step is to be run.
struct StepRequest {
  std::span<const Tensor> feeds;
  ThreadPool* pool = nullptr;  // helpers for /cpu:0; null: the device's own inter-op pool
  int workers = 1;             // threads for /cpu:0, the caller counted
  Rendezvous* rendezvous = nullptr;  // of a part of a step over several tasks
};

// What a loop's rounds need to know.
struct RoundPlan {
  struct Variable {
    uint32_t next;  // slot of its value in the next round
    bool turns;     // it has two places and takes turns
    Shape shape;    // then
  };
  std::shared_ptr<Program> program;
  std::vector<uint32_t> feeds;  // slots: variables, then what stays the same
  std::vector<Variable> variables;  // none when rounds overlap: then they receive …
  size_t num_received = 0;          // … so many
  size_t most_rounds = 1;           // under way at once
  std::vector<uint32_t> results;
  std::vector<Checks> result_checks;
  Checks goes_on;
};

// The changing half of a program: memory, counters and the state of one step at a time. Leased
// from the program for a step. The calling thread works for /cpu:0; other devices' threads and
// queues call in. Freed or leased again only when the last helper has left it.
class Instance final : public KernelHost {
 public:
  explicit Instance(Program& program);
  ~Instance() override;

  // Opens a step and returns its number: from now on it can be cancelled.
  uint64_t begin(std::shared_ptr<Program> program);
  // Runs the step that begin() opened and puts its fetches into `fetched`. Throws the step's first
  // error; the instance stays usable. Takes `self` over.
  static void run(std::unique_ptr<Instance> self, const StepRequest& request,
                  std::vector<Tensor>& fetched, StepTrace* trace);

  // Whoever called begin() and will cancel no more: until then the instance is neither leased again
  // nor freed.
  void let_go() { leave(); }
  // Whether a thread under such a word (StopScope) works for this step.
  bool stops_by(const StopWord* word) const { return word == &failed_; }

  // Of a traced step: makes a call inside an instruction and notes it.
  bool traced() const { return stamps_; }
  bool traced_inside() const { return stamps_ && !trace_->whole_islands; }
  template <class F>
  void trace_inside(const Label& label, const CallSite& site, F call) {
    StepTrace& trace = *root_->trace_;
    Stamp stamp = begin_stamp();
    call();
    end_stamp(site, stamp);
    OperandShapes shapes = trace.with_shapes ? shapes_of(site) : OperandShapes{};
    const std::lock_guard lock(trace.mutex);
    trace.inside.push_back({&label, stamp, std::move(shapes)});
  }
  bool settles() const { return trace_ && trace_->settles; }

  // Ends step number `step` with `error`; from any thread. A step that is over is left alone.
  void cancel(uint64_t step, Error error);

  // Calls that wait, those of loops' rounds too. From any thread, while nobody frees the instance.
  std::vector<WaitingCall> waiting();

  bool failed() const { return root_->failed_.stopped(); }
  Rendezvous* rendezvous() const { return root_->rendezvous_; }

  // ---- As a loop's round (rounds.cc): errors, cancellation and threads are those of the step that
  // the loop is in. enter_loop, rounds, leave_loop.
  void enter_loop(const RoundPlan& plan, const KernelContext& c, Instance& caller, bool in_order);
  void run_round_in_order() { run_in_order(); }
  // Returns true when the round was over at once; otherwise `idle` is called when it is, by the
  // last thread to leave it.
  bool start_round(void (*idle)(void*), void* arg);
  void* idle_arg() const { return idle_arg_; }
  void next_round(const RoundPlan& plan);
  bool lives(Checks checks) const {
    for (uint32_t k = checks.first; k < checks.first + checks.count; ++k)
      if (dead_[p_.check_list[k]]) return false;
    return true;
  }
  Tensor own_value(uint32_t slot) const;
  void leave_loop();

  // ---- For kernels.
  Tensor allocate(KernelContext& c, int output, DType dtype, const Shape& shape,
                  bool host) override;
  std::unique_ptr<Continuation> suspend(KernelContext& c) override;
  Cancellation& cancellation() override { return root_->cancellation_; }
  uint64_t step_id() const override { return root_->step_; }
  std::shared_ptr<void>& keepsake(uint32_t instruction) override;

 private:
  static constexpr uint32_t kNone = ~0u;
  class Suspended;

  // A thread that works for a lane: instructions that it made ready itself, for itself until
  // somebody steals them.
  struct alignas(64) Worker {
    WorkDeque ready;
    uint32_t completed = 0;  // not yet counted for all; the owner's
    std::atomic<bool> taken{false};
  };

  // A call for a helper, lying in a pool's queue. While it is wanted it counts as a holder of the
  // instance; a step that ends takes its calls back, so that nobody waits for a pool that is busy
  // with others' work. One that was taken back still lies in the queue: the next step may want it
  // again, and when its instance is gone the pool's thread frees it.
  struct Summons {
    enum State : int { kHome, kWanted, kTakenBack, kOrphan };
    std::atomic<int> state{kHome};
    Instance* instance = nullptr;
    ThreadPool* pool = nullptr;  // in whose queue it lies, unless it is home
    bool change(int from, int to) { return state.compare_exchange_strong(from, to); }
  };

  // A lane's threads and ready instructions, newest first: those that came from outside and those
  // that its workers have no room for. `items` never grows: it has room for the whole lane.
  struct alignas(64) Lane {
    std::atomic_flag lock = ATOMIC_FLAG_INIT;
    std::atomic<uint32_t> count{0};
    alignas(64) std::atomic<int> helpers{0};
    int max_helpers = 0;
    ThreadPool* pool = nullptr;
    std::vector<uint32_t> items;
    std::vector<std::unique_ptr<Worker>> workers;  // [0]: the caller, of lane 0
    std::vector<Summons*> calls;  // at least max_helpers that can be sent to `pool`
  };

  BufferPtr host_arena(size_t bytes) const;
  void make_memory();
  [[noreturn]] void out_of_memory(Space space, const Error& e) const;
  bool prepare(const StepRequest& request);
  void put_feeds(std::span<const Tensor> feeds);
  void check_fetches();
  void report_missing(uint32_t slot);
  void take_fetches(std::span<const Tensor> feeds, std::vector<Tensor>& fetched);
  void empty_slots();

  void run_in_order();
  void run_parallel(bool measure);
  void prepare_parallel(const StepRequest& request);
  void start_roots();
  void work_as_caller();
  bool park(std::chrono::nanoseconds at_most);
  void help(int lane);
  static void help_entry(void* call, uint64_t lane);
  void make_calls(Lane& lane);
  void send_call(int lane);
  void take_calls_back();
  static Worker& take_seat(Lane& lane);
  uint32_t execute(uint32_t i, int lane, Worker* self);
  void approach(const Wiring& w) const;
  bool call_kernel(uint32_t i);
  void note_times(uint32_t i, int64_t start, bool suspended);
  void note_end(uint32_t i, int64_t end);
  static Stamp begin_stamp();
  void end_stamp(const CallSite& site, Stamp& stamp) const;
  OperandShapes shapes_of(const CallSite& site) const;
  void finish(uint32_t i);
  uint32_t release(uint32_t first, uint32_t count, int lane, Worker* self);
  void dispatch(uint32_t i);
  void enqueued(uint32_t i);
  static void on_queue(void* instance, uint64_t i);
  static void on_notified(void* instance, uint64_t i);
  void complete(uint32_t count);

  bool to_run(uint32_t i);  // of a program with branches; does the work of gates and merges
  bool to_run_safely(uint32_t i);  // an error is the step's
  bool goes_on_safely(uint32_t i);
  void look_up();
  void merge(uint32_t i, const Guard& guard);
  void hand_in_stamps();
  void check_alive();  // what is fetched must not be dead
  void post(Instance& round);
  bool serve_visitor();

  void push(int lane, uint32_t i);
  uint32_t pop(int lane);
  uint32_t take(int lane, Worker& self);
  int64_t num_ready(int lane) const;
  static bool one_more_helper(Lane& lane);
  void wake(int lane);
  void fail(uint32_t i, Error error);
  std::optional<Error> end();
  void leave();  // one holder less; the last gives the instance back
  void check_addresses(uint32_t i) const;

  Program& p_;
  std::shared_ptr<Program> running_;  // keeps the program while anyone is inside
  HostVector<Tensor> slots_;
  std::vector<BufferPtr> arenas_;
  std::vector<std::shared_ptr<void>> keepsakes_;  // by instruction, once one is asked for
  std::vector<uint32_t> joins_, fresh_joins_;
  std::vector<uint32_t> links_;  // of instructions waiting to be enqueued by one thread
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Stamp>* stamps_ = nullptr;  // of a traced step
  StepTrace* trace_ = nullptr;
  Rendezvous* rendezvous_ = nullptr;
  std::vector<Stamp> round_stamps_;
  uint64_t step_ = 0;
  Instance* root_ = this;        // of a loop's round: the step's own instance
  std::vector<uint8_t> dead_;    // by instruction; of gates and merges only
  std::vector<Tensor> next_;
  void (*on_idle_)(void*) = nullptr;
  void* idle_arg_ = nullptr;
  std::atomic_flag visitors_lock_ = ATOMIC_FLAG_INIT;
  std::vector<Instance*> visitors_;  // rounds that have work for this step's threads
  std::atomic<uint32_t> num_visitors_{0};
  bool measure_ = false;
  bool in_order_ = false;

  // What every thread reads for every instruction lies apart from what they write.
  alignas(64) StopWord failed_;
  std::atomic<bool> done_{false}, parked_{false};
  alignas(64) std::atomic<uint32_t> completions_{0};  // still to come
  std::atomic<int> holders_{0};
  EventCount sleep_;  // the caller's, while parked_
  std::atomic<uint64_t> open_{0};  // the step that can be cancelled; 0: none
  std::mutex error_mutex_;  // guards what follows, but for the cancellation
  std::optional<Error> error_;
  Cancellation cancellation_;
  std::mutex waiting_mutex_;        // guards what follows
  Suspended* waiting_calls_ = nullptr;  // a list; of a root: rounds' calls are in their step's
};

}  // namespace emplace
