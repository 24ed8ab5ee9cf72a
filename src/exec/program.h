#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "exec/step_graph.h"
#include "kernel/kernel.h"

namespace emplace {

class Instance;

// A kernel call of a program: all that a run in order has to look at.
struct Call {
  KernelFn run = nullptr;
  const void* state = nullptr;
};

// Who waits for an instruction, and where it runs: what a parallel run looks at besides.
struct Wiring {
  uint32_t successors = 0;    // first in Program::successors
  uint32_t num_released = 0;  // go on when it is done; on a queue: as soon as it is enqueued
  uint32_t num_notified = 0;  // on a queue: those that need it to be really done
  uint32_t join = 0;          // how many it waits for
  uint16_t lane = 0;          // host: whose threads
  int16_t queue = -1;         // asynchronous: which queue of its device
  bool notify = false;        // the host is told when it is done
  bool blocks = false;        // may wait for another operation
  uint32_t waits = 0;         // first in Program::waits
  uint32_t num_waits = 0;
  int32_t event = -1;         // recorded behind it; -1: nobody needs it
};

// What errors and statistics say about an instruction.
struct Label {
  const std::string* name = nullptr;
  const std::string* source = nullptr;
  const Node* node = nullptr;
  StepKind kind = StepKind::kKernel;
  Device* device = nullptr;
  bool replays = false;  // may be part of a recording
  bool island = false;   // of many, whose own labels a trace shows
  bool joined = false;   // not just its node's own kernel: others' work besides, or less
};

// A run of entries in Program::check_list.
struct Checks {
  uint32_t first = 0, count = 0;
};

// Which closed gates keep an instruction from running; gates and merges are no kernel calls.
struct Guard {
  enum class Kind : uint8_t { kCall, kGate, kMerge };
  Checks checks;           // dead when one of these is; of a merge: none
  Kind kind = Kind::kCall;
  bool numbered = false;   // of a merge: somebody wants to know which
  int32_t branch = 0;      // of a gate: see Step
  int32_t num_branches = 0;
  uint32_t arms = 0;       // of a merge: first in Program::arms, one for each input
};

// What an instance puts in a slot before the first step.
struct SlotPlan {
  DType dtype = DType::kInvalid;
  Space space = kHostSpace;
  int64_t offset = -1;  // in the space's arena; -1: none
  int32_t constant = -1;  // in Program::constants: the slot always holds it; -1: none
  Shape shape;
  bool is_constant() const { return constant >= 0; }
};

// One (feeds, fetches, targets) signature with the shapes that are fed, compiled to flat arrays:
// immutable but for what it learns about times. Many threads run it at once, each with an
// instance of its own.
class Program {
 public:
  size_t size() const { return calls.size(); }

  HostVector<Call> calls;  // in an order in which they may run
  HostVector<CallSite> sites;
  HostVector<Wiring> wiring;
  HostVector<Label> labels;
  HostVector<uint32_t> operands, successors;
  std::vector<uint32_t> roots;
  std::vector<int32_t> waits;  // events
  std::vector<DType> types;
  HostVector<SlotPlan> slots;
  std::vector<Tensor> constants;
  std::vector<uint32_t> dynamic_slots;  // filled by each run, emptied after it
  std::vector<int> feed_slots;          // -1: nobody needs it
  std::vector<DType> feed_types;
  std::vector<uint32_t> fetch_slots;
  std::vector<int64_t> arena_bytes;     // by space
  std::vector<int> largest_slot;        // by space
  std::vector<Label> largest_makers;    // by space: who makes the largest slot, if anyone
  std::vector<Device*> devices;         // devices[space - 1]
  std::vector<Device*> lanes;           // devices whose threads run host instructions; 0: /cpu:0
  std::vector<uint32_t> lane_sizes;     // how many instructions each has
  std::vector<Device*> event_devices;   // who makes event i
  // ---- Branches; all empty when there are none.
  std::vector<Guard> guards;            // by instruction
  std::vector<uint32_t> check_list;     // gates and merges
  std::vector<Checks> arms;             // of merges
  std::vector<Checks> fetch_checks;     // by fetch
  uint32_t completions = 0;             // host instructions and notifications a run has to see
  bool in_order_only_possible = false;  // all on /cpu:0 and nothing that waits
  bool pin_host = false;  // the host's arena is memory that a card copies from and to by itself
  int patience = 2000;  // how often the caller looks again before it sleeps: some microseconds
  bool on_card = false;  // a step is mostly waiting for a card
  std::atomic<std::chrono::steady_clock::duration> usual{};  // how long the last such step took
  std::vector<std::shared_ptr<const void>> keep;  // kernel states, functions, names
  // Counts parallel steps that somebody may still be inside; the owner waits for 0 before it lets
  // devices go, so that no device's thread is the last to hold them. Null: nobody asks.
  std::atomic<int>* occupied = nullptr;

  // What follows from calls, wiring and labels: the roots, and how many completions a run has to see.
  // The last call of each queue tells the host, so that a run ends when its queues have drained.
  void count_completions();

  // ---- What it learns: nanoseconds of each instruction, and from that how to run.
  enum class Mode : int { kMeasure, kInOrder, kParallel };
  Mode mode(int workers) const;
  void learned();  // call after a measured run
  mutable std::vector<std::atomic<uint32_t>> cost_ns;

  // ---- For whoever samples steps (session/cost_sampler.h); untouched where nobody does.
  struct Sampling {
    std::atomic<uint32_t> steps{0};
    std::atomic<int64_t> credit_ns{0};  // below 0: what sampling has taken is not yet paid for
    std::atomic<int64_t> usual_ns{0};   // a step that is not sampled
    std::atomic<bool> seen_by_call{false};
  };
  Sampling sampling;

  // ---- Instances.
  // One that is home, else a new one. Where a step is over but a helper has yet to leave it, waits a
  // little for that instead: so one caller comes by with one instance, and its memory.
  std::unique_ptr<Instance> lease();
  void give_back(std::unique_ptr<Instance> instance);
  // Lets instances go that nobody runs, with their memory.
  void drop_idle();
  std::atomic<int> lingering{0};  // instances whose step is over for its caller, not yet home
  Program();
  ~Program();

 private:
  std::atomic<int> measured_runs_{0};
  std::atomic<bool> parallel_pays_{true};
  std::unique_ptr<Instance> take_idle();
  std::atomic<Instance*> spare_{nullptr};  // one at hand without a lock; owned
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Instance>> idle_;
};

struct PlannerOptions {
  int drop_wait = -1;  // tests: leave out the wait of this number, so that a missing one shows
  bool in_turns = false;  // less memory, and less side by side: see compute_in_turns
};

// From a specialised step graph. `loop`: whose round it is; fetch_checks' last entry then asks whether
// another follows.
std::shared_ptr<Program> compile_steps(StepGraph& g, PlanEnvironment& env,
                                       const PlannerOptions& options, LoopPlan* loop = nullptr);
// Plans and compiles. Throws what build_steps and specialise throw.
std::shared_ptr<Program> compile(const Graph& graph, const Signature& signature,
                                 std::span<const Shape> feed_shapes, PlanEnvironment& env,
                                 const PlannerOptions& options = {});

}  // namespace emplace
