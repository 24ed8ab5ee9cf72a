#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/export.h"
#include "emplace/graph.h"
#include "emplace/plan.h"
#include "emplace/tensor.h"

namespace emplace {

// How GPU memory is taken. The first live session's options hold for a GPU until the last closes.
struct GpuOptions {
  double per_process_gpu_memory_fraction = 0;  // 0: nearly all of it
  bool allow_growth = false;                   // start small, extend as needed
  std::string visible_device_list = {};        // "1,0" renumbers
  std::vector<std::vector<float>> virtual_devices = {};  // per visible GPU: memory limits in MiB
  bool use_cuda_malloc_async = false;  // real cards: memory of CUDA's own pool, grown as needed
  bool force_gpu_compatible = false;   // what steps keep in host memory is pinned for real cards
};

struct ThreadPoolOptions {
  int num_threads = 0;
  std::string global_name = {};  // pools of one name are shared by all sessions
};

// A further CPU device that runs on these cores only (or on the cores of a NUMA node).
struct CpuSet {
  std::vector<int> cores = {};
  int numa_node = -1;
};

// TensorFlow's ConfigProto, and what Emplace adds to it.
struct SessionOptions {
  std::map<std::string, int> device_count = {};
  int intra_op_parallelism_threads = 0;  // 0: what the machine, container and environment allow
  int inter_op_parallelism_threads = 0;  // below 0: everything runs in the caller
  bool use_per_session_threads = false;
  std::vector<ThreadPoolOptions> session_inter_op_thread_pool = {};
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  bool place_pruned_graph = false;
  int64_t operation_timeout_in_ms = 0;
  GpuOptions gpu_options = {};
  // "grpc://host:port": a session on that server, which runs the graph on its cluster.
  std::string target = {};
  std::vector<std::string> device_filters = {};  // "/job:ps": tasks that match none are left alone
  bool isolate_session_state = false;  // on servers: variables of this session's own

  int virtual_gpus = -1;             // -1: as EMPLACE_VIRTUAL_GPUS says (N or N:SIZE), else none
  int64_t virtual_gpu_memory = 0;    // bytes each; 0: 1 GiB unless EMPLACE_VIRTUAL_GPUS says
  std::vector<CpuSet> cpu_sets = {};  // CPU:1, CPU:2, …

  // Who places: "simple" or "dynamic"; "": as EMPLACE_PLACER says, else "simple".
  std::string placer = {};
  double placer_budget_ms = 0;     // of wall time for its search; 0: what suits the graph's size
  int64_t placer_evaluations = 0;  // a limit in steps of the search: the same plan everywhere
  uint64_t placer_seed = 1;
  bool measure_costs = false;      // sample steps, whoever places
  std::string costs = {};          // a book of costs to start from
  std::string save_costs = {};     // where the book is written when the session is closed
  // dynamic: ask measured costs then, and move what gains; 0: after 100 steps; below: never
  int replan_after_steps = 0;
  std::function<void(const std::string&)> log = {};  // placement lines; stdout unless set
};

struct RunOptions {
  int64_t timeout_in_ms = 0;
  int inter_op_thread_pool = 0;  // index into session_inter_op_thread_pool; -1: the caller's thread
  bool trace = false;            // fill RunMetadata
};

// What one node did in one step.
struct NodeStats {
  std::string node, op, device;
  int64_t start_ns = 0, end_ns = 0;  // since the step began
  int64_t bytes = 0;                 // of its outputs
  uint32_t thread = 0;
};

struct RunMetadata {
  int64_t start_us = 0;  // since the epoch
  std::vector<NodeStats> nodes;
};

struct DeviceAttributes {
  std::string name, type, description;
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;
};

// Where a node runs and why there.
struct PlacementRow {
  std::string node, op, device, reason;
  struct Rejected {
    std::string device, why;
  };
  std::vector<Rejected> rejected;
};

struct EMPLACE_API PlacementReport {
  std::vector<PlacementRow> rows;
  std::string table() const;  // for people
  std::string json() const;
};

// What a device will hold while a step runs.
struct DeviceForecast {
  struct Holder {
    std::string node;
    int64_t bytes = 0;
  };
  std::string device;
  int64_t peak = 0;   // bytes at the worst moment
  int64_t kept = 0;   // of them from step to step: variables and constants
  int64_t least = 0;  // whatever order its operations run in, it needs no less
  std::string least_node;        // … because of this one, its inputs and outputs; "": of `kept`
  std::optional<int64_t> limit;  // what it has; none: nobody limits it
  std::vector<Holder> holders;   // at the worst moment, largest first
};

using Feeds = std::vector<std::pair<Output, Tensor>>;

// A run prepared once: a fixed list of feeds, fetches and targets. Thread-safe; cheap to copy.
class EMPLACE_API Callable {
 public:
  Callable() = default;
  // Feeds in the order given to make_callable.
  std::vector<Tensor> operator()(std::span<const Tensor> feeds) const;
  // The same into `fetched`, which is reused: nothing is allocated once warm.
  void run(std::span<const Tensor> feeds, std::vector<Tensor>& fetched) const;
  // … with other options than those given to make_callable.
  void run(std::span<const Tensor> feeds, std::vector<Tensor>& fetched, const RunOptions& options,
           RunMetadata* metadata = nullptr) const;

 private:
  friend class Session;
  struct State;
  std::shared_ptr<State> state_;
};

// Runs a graph on devices; owns its variables. Any thread may run it, several at once. The graph
// may be extended between and during runs. Usable again after any error, timeout or cancellation.
class EMPLACE_API Session {
 public:
  explicit Session(Graph& graph, SessionOptions options = {});
  // Shares ownership of the graph.
  explicit Session(std::shared_ptr<Graph> graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::vector<Tensor> run(const Feeds& feeds, std::span<const Output> fetches,
                          std::span<Node* const> targets = {}, const RunOptions& options = {},
                          RunMetadata* metadata = nullptr);
  Tensor run(Output fetch, const Feeds& feeds = {});
  void run(Node* target, const Feeds& feeds = {});
  Callable make_callable(std::span<const Output> feeds, std::span<const Output> fetches,
                         std::span<Node* const> targets = {}, const RunOptions& options = {});

  // Places what is not placed yet and says for every node where and why there. With fetches: only
  // the nodes they need.
  PlacementReport placement(std::span<const Output> fetches = {});
  std::vector<DeviceAttributes> list_devices() const;
  // What was measured so far, and what options.costs brought. Sampling takes no more than a hundredth
  // of the steps' time.
  CostBook costs() const;
  Graph& graph() const;

  // From now on this process takes no more than so many bytes of the device's memory ("": of the host's), whoever asks;
  // 0: no limit of ours. What is held stays. Who needs more gets ResourceExhausted, which says who holds what; the
  // session goes on.
  void limit(int64_t bytes, const std::string& device = "");
  // Gives the memory that nobody uses just now back to the system at once; returns bytes.
  int64_t trim();

  // Ends every step in progress with Cancelled; the session stays usable.
  void cancel();
  // Ends every step in progress, then frees all. Further runs: Cancelled "Session has been closed."
  void close();
  bool closed() const;

  // For the engine's own tests and benchmarks.
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

// ---- Placing without running.

struct WhatIf {
  PlacementReport report;    // as though requests that can't be met had not been made
  std::vector<Error> unmet;  // all of them, by node
};

// Where each node would go on `devices`, none of which needs to be here: full or partial names
// ("GPU:1", "/job:worker/task:2/cpu:0"); the first one's process is the caller's. The graph's
// requests are as before afterwards; nobody else may change it meanwhile.
EMPLACE_API WhatIf place_on(Graph& graph, std::span<const std::string> devices, bool soft = false);

// Pictures of a placement: a box a node, coloured by device.
EMPLACE_API std::string placement_dot(const Graph& graph, const PlacementReport& report);
EMPLACE_API std::string placement_svg(const Graph& graph, const PlacementReport& report);
// A step in the form that chrome://tracing and Perfetto read: a process a device.
EMPLACE_API std::string chrome_trace(const RunMetadata& step);

// ---- Files.

// The options of a ConfigProto in protobuf text. Throws InvalidArgument with line and column.
EMPLACE_API SessionOptions session_options(std::string_view config_text);

// NumPy's files. Texts are `S` arrays (`U` is read as UTF-8), bfloat16 is `V2`.
EMPLACE_API Tensor load_npy(const std::string& path);
EMPLACE_API void save_npz(const std::string& path,
                          std::span<const std::pair<std::string, Tensor>> arrays);

// A checkpoint of TensorFlow's second format (PREFIX.index, PREFIX.data-…), opened to be read.
// Throws NotFound, or DataLoss that names the damage. Cheap to copy; any thread may read.
class EMPLACE_API Checkpoint {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  explicit Checkpoint(const std::string& prefix);
  const std::vector<Entry>& entries() const;  // by name
  Tensor read(const std::string& name) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};
// Writes one. Whatever happens meanwhile, a reader finds the old checkpoint whole, or the new.
EMPLACE_API void write_checkpoint(const std::string& prefix,
                                  std::span<const std::pair<std::string, Tensor>> tensors);

// A record as TensorFlow's record and event files hold it: length, bytes and their checksums.
EMPLACE_API std::string framed_record(std::string_view bytes);

// A graph from a file, and what the file says about how to use it.
struct EMPLACE_API Model {
  struct Argument {
    std::string key, tensor;  // "x", "serving_default_x:0"
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  struct Signature {
    std::string name, method;
    std::vector<Argument> inputs, outputs;
  };
  std::shared_ptr<Graph> graph;
  std::vector<std::string> tags;
  std::vector<Signature> signatures;
  // How the variables get their values; empty where the file has none.
  std::string checkpoint, filename_tensor, restore_op, init_op;
  std::vector<std::pair<std::string, std::string>> assets;  // tensor, path

  // Restores the variables and runs the initializer, as far as the file has them.
  void initialize(Session& session) const;
};

// Reads a GraphDef (binary, or text when the name ends in txt), a MetaGraphDef (.meta) or the
// folder of a SavedModel, of which the graph with exactly these tags is taken (none given: the only
// one, or "serve").
EMPLACE_API Model load_model(const std::string& path,
                             std::span<const std::string> tags = {});

// ---- The machine.

// One thing that matters to how well programs run here.
struct Finding {
  std::string topic, text;
  bool problem = false;
  std::string advice;  // what to do about a problem
};
EMPLACE_API std::vector<Finding> examine_machine();

}  // namespace emplace
