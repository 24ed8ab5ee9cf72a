#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <shared_mutex>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/attr.h"
#include "emplace/export.h"
#include "emplace/tensor.h"

namespace emplace {

class Graph;
class Node;
class OpRegistry;
struct Function;
struct HandleInfo;
struct KnownValue;
struct OpDef;

// One output of a node: an edge's source.
struct EMPLACE_API Output {
  Node* node = nullptr;
  int index = 0;

  DType dtype() const;
  bool is_ref() const;
  const Shape& shape() const;  // what is known of it
  std::string name() const;    // "MatMul:0"
  Graph& graph() const;
  explicit operator bool() const { return node != nullptr; }
  bool operator==(const Output&) const = default;
};

// A node of a graph. Made by Graph::add and owned by it; addresses stay valid for the graph's
// life. What can change after the making (device, control inputs, attributes) changes only
// through Graph, under its lock.
class EMPLACE_API Node {
 public:
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& type() const;  // "MatMul"
  const OpDef& op() const { return *op_; }
  Graph& graph() const { return *graph_; }
  std::span<const Output> inputs() const { return inputs_; }
  std::span<Node* const> control_inputs() const { return control_inputs_; }
  const AttrList& attrs() const { return attrs_; }
  const AttrValue* attr(std::string_view name) const { return find_attr(attrs_, name); }
  const std::string& device() const { return device_; }  // requested, as it prints; may be empty
  std::vector<std::string> colocation_groups() const;    // "loc:@name"; own name if none asked
  const std::string& source() const { return source_; }  // "file.cc:12", may be empty

  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DType output_type(int i) const { return output_types_[i]; }
  bool output_is_ref(int i) const { return !output_refs_.empty() && output_refs_[i]; }
  const Shape& output_shape(int i) const { return output_shapes_[i]; }
  Output output(int i = 0) { return {this, i}; }

  // "b = Const[dtype=DT_FLOAT, value=…, _device="/device:GPU:2"]()": as errors show it.
  std::string definition() const;

  // What is known about an output of type DT_RESOURCE, or about a small integer output's value
  // (see src/graph/known_value.h); null if nothing.
  const HandleInfo* handle(int i) const;
  const KnownValue* known_value(int i) const;

  Node();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

 private:
  friend class Graph;
  void set_inputs(std::span<const Output> inputs);

  // What every walk over a graph looks at lies in one cache line: a large graph is in no cache.
  alignas(64) const OpDef* op_ = nullptr;
  int id_ = 0;
  std::span<Output> inputs_;  // few_inputs_ or many_inputs_
  Output few_inputs_[2];
  std::vector<Node*> control_inputs_;
  AttrList attrs_;
  std::unique_ptr<Output[]> many_inputs_;
  Graph* graph_ = nullptr;
  std::vector<DType> output_types_;
  std::vector<Shape> output_shapes_;
  std::vector<HandleInfo> output_handles_;  // empty: none
  std::vector<KnownValue> known_values_;    // empty: none
  std::vector<bool> output_refs_;           // empty: none
  std::string device_, name_, source_;
};

// Called for each node made in its device block; returns a device name ("" leaves it open).
using DeviceFunction = std::function<std::string(const Node&)>;

// Leaves a scope when destroyed; scopes end in the reverse order of their beginning.
class [[nodiscard, gnu::visibility("default")]] Scope {
 public:
  explicit Scope(std::function<void()> leave) : leave_(std::move(leave)) {}
  Scope(Scope&& o) noexcept : leave_(std::exchange(o.leave_, nullptr)) {}
  Scope& operator=(Scope&&) = delete;
  ~Scope() {
    if (leave_) leave_();
  }

 private:
  std::function<void()> leave_;
};

// What a caller of Graph::add may say about the node beside op, inputs and attributes.
struct NodeOptions {
  std::string name;                    // made unique under the name scope; empty: the op's name
  std::vector<Node*> control_inputs;   // beside those of the control_dependencies blocks
  std::string source;                  // the user's line; empty: that of the call
  bool exact_name = false;             // `name` is the full, final name (import); AlreadyExists if taken
  bool raw = false;                    // import: no device, control or colocation scopes apply
  std::string device;                  // with raw: the requested device
};

// Which programs may read a graph; those of op definitions like ours are at 2474.
struct GraphVersions {
  int producer = 2474;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

// A graph of operations, extended by any thread while sessions run it. Names are made unique as
// TensorFlow does. The scope stacks (name, device, control, colocation) are each thread's own.
class EMPLACE_API Graph {
 public:
  Graph();                                  // over the whole op catalogue
  explicit Graph(const OpRegistry& ops);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The innermost graph made default on this thread, else the process's default graph.
  static Graph& current();
  Scope as_default();

  // Adds a node. `inputs` is flattened: list arguments take their tensors one after another; when
  // an op has more than one list, the lengths must be in `attrs`. Checks everything, infers
  // dtypes, defaults and shapes; on an error the graph is unchanged. The node, and the error, bear
  // the line of the call; a wrapper hands its own caller's on as `where`.
  Node* add(std::string_view op, std::span<const Output> inputs, AttrList attrs = {},
            NodeOptions options = {},
            const std::source_location& where = std::source_location::current());
  Node* add(std::string_view op, std::initializer_list<Output> inputs, AttrList attrs = {},
            NodeOptions options = {},
            const std::source_location& where = std::source_location::current()) {
    return add(op, std::span(inputs.begin(), inputs.size()), std::move(attrs), std::move(options),
               where);
  }

  // ---- Scopes. An error bears the line of the call.
  // "a" opens a unique "…/a/"; "x/" re-enters; "" resets.
  Scope name_scope(std::string_view name,
                   const std::source_location& where = std::source_location::current());
  // Full or partial; InvalidArgument if malformed.
  Scope device(std::string_view name,
               const std::source_location& where = std::source_location::current());
  Scope device(std::nullptr_t);                // clears what outer blocks asked for
  Scope device(DeviceFunction function);
  Scope control_dependencies(std::span<Node* const> nodes,
                             const std::source_location& where = std::source_location::current());
  Scope control_dependencies(std::nullptr_t);  // clears
  // Null with ignore_existing resets.
  Scope colocate_with(Node* node, bool ignore_existing = false,
                      const std::source_location& where = std::source_location::current());
  std::string current_name_scope() const;      // "a/b/" or ""
  std::string unique_name(std::string_view name, bool mark_as_used = true);

  // ---- Looking things up.
  size_t num_nodes() const;
  std::vector<Node*> nodes() const;            // in order of creation
  Node* find(std::string_view name) const;     // null if none
  Output tensor(std::string_view name) const;  // "x:0"; NotFound / InvalidArgument
  const OpRegistry& ops() const { return ops_; }
  uint64_t version() const;                    // grows with every change

  // ---- Changes to existing nodes.
  void set_device(Node* node, std::string device);
  void add_control_input(Node* node, Node* before);
  void set_attr(Node* node, std::string_view name, AttrValue value);
  void update_input(Node* node, int index, Output source);  // loops close their back edge with it
  void set_shape(Output output, const Shape& shape);        // merged with what is known
  void finalize();                             // no more nodes: FailedPrecondition afterwards
  bool finalized() const;

  // ---- Functions: graphs as values, called by name (PartitionedCall, If, While).
  void add_function(std::shared_ptr<const Function> f);  // the same again is fine, another: error
  std::shared_ptr<const Function> find_function(std::string_view name) const;
  std::vector<std::shared_ptr<const Function>> functions() const;

  GraphVersions versions() const;              // with those of what was imported

  uint64_t seed() const { return seed_; }      // graph-level seed
  bool has_seed() const { return has_seed_; }
  void set_seed(uint64_t seed);
  void clear_seed() { has_seed_ = false; }
  int64_t last_id() const;                     // of the newest node: TensorFlow's op seed

  // Held shared by whoever reads many nodes while others may add.
  std::shared_mutex& mutex() const { return mutex_; }

  // Throws Internal when an invariant is broken (edges in range, no data cycle but through
  // NextIteration, names unique, types agree). Runs after every pass in debug builds.
  void verify() const;

 private:
  friend class GraphImporter;
  struct State;
  const OpRegistry& ops_;
  mutable std::shared_mutex mutex_;
  std::unique_ptr<State> state_;
  uint64_t seed_ = 0;
  bool has_seed_ = false;
};

// A graph as a value: `body` with marked inputs (nodes of op _Arg) and outputs.
struct EMPLACE_API Function {
  std::string name;
  std::shared_ptr<Graph> body;
  std::vector<Node*> inputs;     // _Arg nodes in order
  std::vector<Output> outputs;
  std::vector<Node*> control_outputs;
  std::vector<std::string> input_names, output_names;
  AttrList attrs;
  bool stateful = false;
};

// ---- The wire form: TensorFlow's GraphDef, as bytes or as protobuf text.

struct ExportOptions {
  bool add_shapes = false;          // attribute _output_shapes
  bool strip_default_attrs = false;
  bool functions = true;
  bool sources = false;             // the user's lines, in debug_info
};

struct ImportOptions {
  std::string prefix;               // "p" names the nodes p/…
  bool uniquify_names = false;      // number names that are taken; otherwise they are an error
  bool uniquify_prefix = false;
  // Sources ("a", "a:1", "^c" with index -1) replaced by outputs of this graph.
  std::vector<std::pair<std::string, Output>> input_map;
  bool skip_mapped_nodes = false;   // leave nodes out of which every output is mapped
  std::vector<Node*> control_inputs;  // of every node that no other imported node precedes
  std::vector<std::string> return_tensors, return_nodes;
  bool validate_colocation = true;  // partners must be in the GraphDef
  std::string default_device;       // of nodes that name none
  bool apply_device_scopes = false;  // this thread's device blocks apply, as in Python
  bool allow_internal_names = false;  // a leading '_'
};

struct ImportResult {
  std::vector<Node*> nodes;          // in the order of the GraphDef; null where skipped
  std::vector<Output> outputs;       // return_tensors
  std::vector<Node*> returned_nodes;  // return_nodes
  std::vector<std::string> missing_unused_keys;  // of input_map
};

EMPLACE_API std::string graph_def(const Graph& graph, const ExportOptions& options = {});
EMPLACE_API std::string graph_def_text(const Graph& graph, const ExportOptions& options = {});
EMPLACE_API std::string node_def(const Node& node);
// Adds the nodes and functions of a GraphDef. Throws InvalidArgument (NotFound for unknown ops) in
// TensorFlow's words; the graph is unchanged then.
EMPLACE_API ImportResult import_graph_def(Graph& graph, std::string_view bytes,
                                          const ImportOptions& options = {});
EMPLACE_API ImportResult import_graph_def_text(Graph& graph, std::string_view text,
                                               const ImportOptions& options = {});
// One function, as a FunctionDef; those that it calls must be in `library`.
EMPLACE_API std::string function_def(const Function& f);
EMPLACE_API std::shared_ptr<Function> function_from_def(std::string_view bytes,
                                                        const Graph& library);

}  // namespace emplace
