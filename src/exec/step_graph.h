#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/host_vector.h"
#include "base/rarely.h"
#include "base/small_vector.h"
#include "emplace/graph.h"
#include "kernel/kernel.h"
#include "op/shape_context.h"

namespace emplace {

class CalledFunction;

// Where a value comes from inside a step graph.
struct Port {
  int step = -1;
  int output = 0;
  bool operator==(const Port&) const = default;
};

enum class StepKind : uint8_t {
  kKernel,
  kFeed,   // a value the caller brings; no work
  kConst,  // a value known when the plan is made; no work
  kRead,   // the value of a variable where an op wants a value and gets a reference
  kCopy,   // the same value in another memory
  kGate,   // open when its input says so: what waits for a gate that is closed is dead
  kMerge,  // whichever of its inputs is not dead
  kLoop,   // runs a program of its own again and again
  // ---- Of a loop whose rounds overlap (overlap.h):
  kReceive,  // a variable, when the round before has made it
  kDeliver,  // hands a variable to the next round
  kGoOn,     // lets the next round begin
};
// Work of the executor's own, of which a trace says nothing.
inline bool hands_over(StepKind k) { return k >= StepKind::kReceive; }

class Program;
struct LoopPlan;

// Memory that a value lives in: the host's (0), or device `space - 1` of the plan's devices.
using Space = uint16_t;
constexpr Space kHostSpace = 0;

// What the plan knows about one output of a step.
struct StepOutput {
  DType dtype = DType::kInvalid;
  bool is_ref = false;
  Space space = kHostSpace;
  Shape shape = Shape::unknown();

  // What only few outputs have lies apart.
  const HandleInfo& handle() const { return rare_->handle; }
  void set_handle(HandleInfo handle);
  // Known while planning: constants, shapes, what follows from them.
  const Tensor& value() const { return rare_->value; }
  bool has_value() const { return rare_->value.has_value(); }
  void set_value(Tensor value);

 private:
  struct Rare {
    HandleInfo handle;
    Tensor value;
  };
  Rarely<Rare> rare_;
};

// One piece of work of a plan. Steps stand in an order in which they may run.
struct Step {
  // Branches: a step is dead in a run, and passed over, when a gate that it needs is closed.
  struct Flow {
    int branch = 0;                      // of a gate: the input for which it opens …
    int num_branches = 0;                // … of so many; 0: the input is true or false
    std::vector<std::vector<int>> arms;  // of a merge: the steps that each input lives by
    std::vector<int> life;               // with own_life: the steps it lives by, whatever else it
                                         // waits for
    std::vector<int> gates;              // what it needs to be open (merges: to be alive); see
                                         // lives.h
    std::shared_ptr<LoopPlan> loop;
  };

  StepKind kind = StepKind::kKernel;
  bool snapshot = false;               // of a read: into memory of its own
  bool own_life = false;               // see Flow::life
  bool joined = false;                 // does the work of other steps besides
  Space device_space = kHostSpace;     // of its device
  int16_t own_aliases = 0;
  int16_t line = -1;                   // of those that run one after another (line_up.h); -1: none
  int queue = -1;                      // on an asynchronous device: which of its queues
  const KernelRow* row = nullptr;
  Rarely<Flow> flow;
  SmallVector<Port, 2> inputs;
  std::vector<int> controls;
  SmallVector<StepOutput, 1> outputs;
  const Node* node = nullptr;          // whose work it is; of a copy or read: the producer
  const std::string* name = nullptr;   // with the names of inlined calls before it
  const std::string* source = nullptr;
  Device* device = nullptr;
  uint64_t host_inputs = 0;            // bit i: input i is a host-memory argument (i < 64)
  Prepared kernel;

  bool async() const { return queue >= 0; }
  bool is_value() const {  // no work to do, whatever waits for it may go on
    return (kind == StepKind::kFeed || kind == StepKind::kConst) && controls.empty();
  }
};

// Bytes of a value of known shape; more than any memory has when they fit no int64.
constexpr int64_t kNoRoom = int64_t{1} << 62;
int64_t bytes_of(const Shape& shape, DType dtype);

// Numbers of an asynchronous device's queues: its compute queues, then these.
struct QueueNumbers {
  int copy_in, copy_out;
};
QueueNumbers copy_queues(const Device& device);
Queue& queue_of(Device& device, int number);

// What a plan is made from: nodes and the device of each, and who can run what.
class PlanEnvironment {
 public:
  virtual ~PlanEnvironment() = default;
  virtual Device* device_of(const Node& node) = 0;  // placed
  // Devices of a function's body when called from `caller`, by node id. `homes`, by argument: where
  // the resource is that a handle means; null: the argument is a value, which goes anywhere.
  virtual std::vector<Device*> place_function(const Function& f, Device* caller,
                                              std::span<Device* const> homes) = 0;
  virtual const KernelRegistry& kernels() = 0;
  virtual ResourceManager& resources() = 0;
  virtual ResourceManager& streams() { return resources(); }  // of random numbers
  virtual Device* host() = 0;  // /cpu:0
  // A function of the graph that `node` stands in, or of the whole one, for its kernel to call.
  virtual std::shared_ptr<CalledFunction> function(const Node& node, const std::string& name);
};

// A pruned, inlined graph over placed nodes, with reads and copies as steps of their own.
struct StepGraph {
  HostVector<Step> steps;
  std::vector<Device*> devices;             // devices[space - 1]; asynchronous ones only
  std::vector<int> feeds;                   // step of each feed; -1 when nobody needs it
  std::vector<Port> fetches;                // in host memory, but for those of a loop
  std::vector<std::vector<int>> fetch_lives;  // the steps that each fetch lives by
  // Of inlined nodes; shared with the programs made from it: a loop inside a loop is planned again
  // with each guess at the outer one's shapes.
  std::shared_ptr<std::vector<std::unique_ptr<std::string>>> names =
      std::make_shared<std::vector<std::unique_ptr<std::string>>>();
  std::vector<std::shared_ptr<const Function>> functions;  // whose nodes stand in the steps

  const StepOutput& out(Port p) const { return steps[p.step].outputs[p.output]; }
  StepOutput& out(Port p) { return steps[p.step].outputs[p.output]; }
  Space space_of(Device* device);           // adds the device when new
};

// In a loop over many steps, at step i: asks for the memory of those to come, as
// graph/look_ahead.h does for nodes; what follows a step's outputs is looked at less often.
inline void look_ahead(const StepGraph& g, size_t i, size_t far = 16) {
  if (i + far >= g.steps.size()) return;
  const char* const step = reinterpret_cast<const char*>(&g.steps[i + far]);
  for (size_t at = 0; at < 192; at += 64) __builtin_prefetch(step + at);
}

// A loop's rounds: one program for all of them.
struct LoopPlan {
  StepGraph round;              // feeds: variables, then what stays the same in every round;
                                // fetches: the next values of the variables, then the results
  size_t num_variables = 0;
  std::vector<int> goes_on;     // the steps that live when another round is to follow
  int64_t parallel_iterations = 1;  // how many rounds may be under way at once, if nothing forbids it
  bool has_effects = false;     // rounds must follow one another
  bool overlaps = false;        // its rounds hand their values over one by one
  std::shared_ptr<Program> program;  // made from it by specialise
};

// What one run brings and wants.
struct Signature {
  std::vector<Output> feeds;
  std::vector<Output> fetches;
  std::vector<Node*> targets;
  std::vector<Device*> feed_devices;  // whose memory each feed lies in (null: the host's); empty: all
  bool stay = false;                  // fetches stay in the memory they were made in
};

// Keeps what `signature` needs. Throws InvalidArgument/NotFound in TensorFlow's words, naming the
// node: fed twice, cycles, recursive calls, no kernel.
StepGraph build_steps(const Graph& graph, const Signature& signature, PlanEnvironment& env);

// Recomputes shapes and known values with the shapes that are fed, prepares the kernels and plans
// the loops.
void specialise(StepGraph& g, std::span<const Shape> feed_shapes, PlanEnvironment& env);

// Gives every asynchronous step its queue and orders the steps of each queue.
void assign_queues(StepGraph& g);

// Whether a device's host work is done by /cpu:0's threads: that of names over all cores, and of
// asynchronous devices.
bool shares_threads(Device& device, Device& host);

}  // namespace emplace
