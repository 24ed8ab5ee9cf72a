#pragma once
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "exec/loops.h"
#include "exec/prune.h"
#include "exec/step_graph.h"

namespace emplace {

// A value on its way into steps: where it is, and what beside its maker must be alive and done for
// whoever takes it.
struct Value {
  Port port;
  std::vector<int> guards;
};

// Nodes that are no kernel calls.
enum class Special : uint8_t {
  kNone,
  kArgument,
  kConst,
  kIdentity,
  kCall,
  kBranches,
  kWhile,
  kSwitch,
  kMerge,
  kAlias,
  kTrigger,
};

// The nodes of one graph (the session's, a called function's body, a loop's round) on their way
// into steps.
struct Frame {
  std::string prefix;                       // "call/" for inlined nodes
  std::vector<SmallVector<Port, 2>> ports;     // by node id: where each output is now
  std::vector<int> done;                    // by node id: the step to wait for, or -1
  const std::vector<Device*>* devices = nullptr;  // of a body, by node id
  std::vector<int> entry_controls;          // what every source of a body waits for
  FeedIndex feeds;
  std::unordered_map<Output, std::vector<int>, OutputHash> guards;  // where there are any
  int first_id = 0;                         // node ids count from here
  Frame* outer = nullptr;                   // of a loop's round: where its Enters take values

  size_t index(const Node& n) const { return static_cast<size_t>(n.id() - first_id); }
  SmallVector<Port, 2>& ports_of(const Node& n) { return ports[index(n)]; }
  int& done_of(const Node& n) { return done[index(n)]; }
  bool has(const Node& n) const {
    return n.id() >= first_id && index(n) < ports.size() && !ports[index(n)].empty();
  }
};

// Turns nodes into steps: build_steps.cc nodes and edges, build_calls.cc functions and what calls
// them, build_flow.cc TensorFlow 1's branches and loops, build_refs.cc who writes a variable.
class Builder {
 public:
  Builder(const Graph& graph, PlanEnvironment& env) : env_(env), graph_(graph) {}
  // For a loop's round, inside of what `outer` builds.
  explicit Builder(Builder& outer)
      : env_(outer.env_), graph_(outer.graph_), outer_(&outer), calls_(outer.calls_) {}

  StepGraph build(const Signature& s);

 private:
  // ---- Nodes and edges.
  void index_feeds(const Signature& s, Frame& frame);
  int append(Step step);
  int append_feed(const Node* node, const std::string* name, StepOutput out);
  void add_nodes(Frame& frame, const std::vector<Node*>& order);
  void add_node(Frame& frame, Node* n);
  void make_room(Frame& frame, const std::vector<Node*>& order);
  Device* device_of(const Frame& frame, const Node* n);
  const std::string* name_of(const Frame& frame, const Node* n);
  Step plain_step(const Frame& frame, const Node* n, Device* device);
  Step make_step(const Frame& frame, Node* n, Device* device);
  void mark_host_args(const Node* n, Step& step);
  void connect(Frame& frame, Node* n, Step& step);
  void add_constant(Frame& frame, Node* n, Device* device);
  void publish(Frame& frame, Node* n, int step);
  void add_control(Step& step, int before);
  void wait_for(Frame& frame, Node* n, std::vector<int>& controls);
  Value value_of(Frame& frame, const Output& o);
  Port read(Port p, const std::vector<int>& controls);
  Port in_space(Port p, Space space);
  Value read_if_ref(Value v);
  Value read_last(Value v);

  // ---- References (build_refs.cc).
  int variable_of(Port ref);
  bool is_name(int step) const;
  void note_writer(int step);
  Port read_again(Port p, const Step& step);
  bool waits_for(std::vector<int> from, int writer) const;
  bool waits_for_newer(const std::vector<int>& from, int read,
                       const std::vector<int>& writers) const;

  Space space_for(Device* device, DType dtype);  // of a value that a call on `device` hands around
  Port fetch(Frame& frame, const Output& f, std::vector<int>& life, bool stay);
  static std::vector<int> life_of(const Value& v);

  // ---- Calls.
  std::shared_ptr<const Function> function_of(Node* call, const std::string& name);
  struct Call {
    Node* node;
    Device* device;
    std::string prefix;
    std::vector<int> controls;  // what its sources wait for
  };
  std::vector<Value> inline_body(const Function& f, const Call& call, std::vector<Value> args);
  std::vector<Value> arguments(Frame& frame, Node* call, size_t first);
  Device* home_of(Port p) const;
  std::vector<int> call_controls(Frame& frame, Node* call);
  void inline_call(Frame& frame, Node* call, Device* device);
  void leave_call(Frame& frame, Node* call, std::vector<Value> outputs, int first,
                  const std::vector<int>& entry, const std::vector<int>* life);
  void add_branches(Frame& frame, Node* call, Device* device);
  Value merge_branches(Frame& frame, Node* call, Device* device, std::span<const Value> values,
                       std::span<const int> gates);
  void add_while(Frame& frame, Node* call, Device* device);

  // ---- TensorFlow 1's branches and loops.
  int gate(const Value& predicate, int branch, int num_branches);
  void add_switch(Frame& frame, Node* n);
  void add_alias(Frame& frame, Node* n);
  void add_merge(Frame& frame, Node* n, Device* device);
  void add_loop(Frame& frame, const LoopNest& nest, int loop);
  void add_units(Frame& frame, const LoopNest& nest, int loop);
  Value enter(Frame& frame, Node* enter);
  Port capture(const Node* node, Value v, Space space);  // a value of outer_'s, for every round
  void note_parallel_iterations(const Node& n);  // an Enter's, or a While's
  void add_variables(Frame& frame, const LoopNest::Loop& loop);
  int finish_loop(Frame& frame, const Node* node, std::vector<int> controls);

  Special special(const Node& n);

  std::unordered_map<const OpDef*, Special> specials_;  // asked of each op once
  PlanEnvironment& env_;
  const Graph& graph_;  // the session's: functions that a body does not know itself
  Builder* outer_ = nullptr;
  StepGraph g_;
  std::unordered_set<int> awaited_;  // reads that a control edge leaves
  std::unordered_map<int, std::vector<int>> writers_;  // by a variable's step: who takes a reference, in order
  std::vector<int> variables_;  // by step: whose reference it gives; -1: not asked yet
  struct PortKey {
    int step, output, space;
    bool operator==(const PortKey&) const = default;
  };
  struct PortKeyHash {
    size_t operator()(const PortKey& k) const {
      return (static_cast<size_t>(k.step) * 1000003 + static_cast<size_t>(k.output)) * 31 +
             static_cast<size_t>(k.space);
    }
  };
  std::unordered_map<PortKey, Port, PortKeyHash> copies_;
  std::map<std::vector<int>, int> gates_;  // by predicate, its guards, branch
  std::vector<std::string> calls_;         // open, outermost first
  // Of a loop's round: what its feeds are outside.
  std::vector<Port> captured_;
  std::vector<int> captured_guards_;
  LoopPlan plan_;
};

}  // namespace emplace
