#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/export.h"

namespace emplace {

struct RunMetadata;  // emplace/session.h

// A cost graph: what each node costs on each device, what each edge carries, and what the links
// between the devices do. Plain data: nothing of an op or a kernel is known here.
struct CostDevice {
  std::string name, type;
  std::optional<double> memory;  // bytes; none: unlimited
  std::optional<int> slots = 1;  // nodes that run at once; none: any number
  double launch_s = 0;           // no node that takes time takes less: the host launches each
  std::string pool = {};         // devices of one pool share its cores; empty: cores of its own
  double pool_cores = 1;         // how many the pool has
  double most_cores = 0;         // … of which the device can use so many; 0: all
};

struct CostLink {
  double latency_s = 0;
  double bytes_per_s = 1;
  std::string channel = {};  // pairs of one channel share it; empty: the pair has its own
};

struct CostLinkPair {
  int src = 0, dst = 0;  // devices
  CostLink link;
};

struct CostNode {
  std::string name;
  // Seconds by device name or type; a name beats a type. Neither: no kernel for it there.
  std::vector<std::pair<std::string, double>> time;
  double memory = 0;     // bytes that it keeps on its device
  std::string pin = {};  // a device; empty: any
  int group = -1;        // nodes of one group share a device; -1: none
  double cores = 1;      // of its device's pool, that it keeps busy

  // What only `predict` reads.
  std::string op = {};
  int island = -1;    // nodes of one island and device are launched as one; -1: none
  int in_place = -1;  // the node whose first output's memory its first output takes over
  bool fetched = false;                    // its outputs stay till the step ends
  std::vector<double> output_bytes = {};  // by output; empty: as its edges say
};

struct CostEdge {
  int src = 0, dst = 0;  // nodes
  double bytes = 0;
  // Of `src`: what two edges carry of one output to one device goes there once. -1: nothing is
  // carried, `dst` only waits.
  int output = 0;
};

// What a plan is worth: the end of one step of a list schedule, the load of a pipeline's fullest
// device, or the end of one sample through calls of accelerators.
enum class PlanModel : uint8_t { kList, kMaxLoad, kCalls };

struct CostGraph {
  std::string name;
  PlanModel model = PlanModel::kList;
  bool serial_links = false;  // list: a link carries one transfer at a time
  bool through_host = false;  // between accelerators a transfer goes through the host's memory
  std::vector<CostDevice> devices;
  CostLink default_link;
  std::vector<CostLinkPair> links;
  std::vector<CostNode> nodes;
  std::vector<std::string> groups;  // names
  std::vector<CostEdge> edges;
};

// How long to search. Without either limit a budget that suits size and model is taken. With a
// limit of evaluations alone the plan is the same on every machine.
struct PlanOptions {
  std::optional<double> budget_ms;
  std::optional<int64_t> evaluations;
  uint64_t seed = 1;
  double spent_ms = 0;  // of the budget, before the call
  // An earlier plan of a graph with the same nodes and devices, whose costs may have changed: the
  // search goes on from there, and takes a tenth of its time. What constraints no longer allow is
  // moved. Null: from scratch.
  const struct Plan* start = nullptr;
};

struct Plan {
  std::vector<int> device;  // of each node
  std::vector<int> order;   // list: every node; each device takes its own in this order
  std::vector<int> call;    // calls: the number of each node's call on its device
  double value = 0;         // seconds
  double bound = 0;         // no plan is better than this
  bool optimal = false;     // proven
  std::string found_by;     // the method that gave the first form of it
  int64_t evaluations = 0;
  double first_ms = 0, total_ms = 0;  // till the first plan; till the end
};

// Where each node of a cost graph should run, and in which order: heuristics side by side, then a
// search, with proof where the graph is small. Pins, groups, kernels and memory always hold. Throws
// InvalidArgument where the graph is at fault, ResourceExhausted where no device has room, naming
// the nodes and the bytes that are missing.
EMPLACE_API Plan plan(const CostGraph& graph, const PlanOptions& options = {});

// The value of a plan by simulation of its decisions alone: `device`, and `order` or `call` where
// not empty. Throws InvalidArgument where it breaks a rule of the graph.
EMPLACE_API double plan_value(const CostGraph& graph, const Plan& plan);

// One step of a plan as it is expected, event by event.
struct PredictedStep {
  struct Run {
    int node = 0, device = 0, lane = 0;  // lane: which of the device's slots
    double start_s = 0, end_s = 0;
  };
  struct Copy {
    int node = 0, output = 0, from = 0, to = 0;
    double bytes = 0, start_s = 0, end_s = 0;
  };
  struct Held {
    int node = 0;
    double bytes = 0;
    bool copy = false;  // of what another device computed
  };
  struct Device {
    double busy_s = 0;      // some node runs
    double kept_bytes = 0;  // variables: the whole step
    double peak_bytes = 0, peak_at_s = 0;
    std::vector<Held> at_peak;  // what is held then, largest first
    double least_bytes = 0;     // in no order of execution does it need less …
    int least_node = -1;        // … because of this node, its inputs and outputs; -1: kept_bytes
  };
  double step_s = 0;
  std::vector<Run> runs;     // by start
  std::vector<Copy> copies;  // by start
  std::vector<Device> devices;
};

// The step of a list plan: slots, launches, islands, links, shared cores, and memory over time.
// Throws InvalidArgument where the plan breaks a rule or an island waits for itself.
EMPLACE_API PredictedStep predict(const CostGraph& graph, const Plan& plan);

// The same in the form of a measured step, for `chrome_trace` and pictures.
EMPLACE_API RunMetadata timeline(const CostGraph& graph, const PredictedStep& step);

// "optimal", "within 1.7 % of the optimum", or nothing where no bound says more than twice.
EMPLACE_API std::string plan_quality(const Plan& plan);

// ---- What things cost.

// Seconds that calls took.
struct Cost {
  double seconds = 0;  // their mean; what is far off counts as less far
  double spread = 0;   // standard deviation
  int64_t count = 0;   // how many were seen
};

// What two calls have in common that take equally long on one device.
struct CostCall {
  std::string op;      // "MatMul"
  std::string attrs;   // "transpose_a=false transpose_b=false", by name
  std::string inputs;  // "float32[64,784] float32[784,128]"
  bool operator==(const CostCall&) const = default;
};

// One line of a book.
struct CostRow {
  std::string node = {};  // empty: calls of any node
  CostCall call;
  std::string outputs = {};  // "float32[64,128]", as last seen
  std::string device;        // its kind, "CPU x2 Intel(R) Xeon(R)": devices of one kind are alike
  Cost cost;
};

// How fast devices of one kind are, where nothing was measured of a call.
struct DeviceRates {
  struct Rate {
    double size = 0, per_s = 0;
  };
  std::string device;  // the kind
  double launch_s = 0;         // a call that does nothing
  double ops_per_s = 0;        // simple operations of loops over elements
  std::vector<Rate> products;  // of matrix products of so many operations, by size
  std::vector<Rate> moves;     // of bytes, in calls whose operands have so many, by size
};

// How fast tensors get from devices of one kind to those of another.
struct LinkRate {
  std::string from, to;  // kinds
  double latency_s = 0;
  double bytes_per_s = 0;
};

// What was measured of operations, devices and links: by call and kind of device, and by node. A
// value: copies are apart. Of more than kMaxRows rows those go that were not seen for longest.
class EMPLACE_API CostBook {
 public:
  static constexpr size_t kMaxRows = 50'000;
  static constexpr size_t kMaxFileBytes = size_t{64} << 20;

  CostBook();
  ~CostBook();
  CostBook(const CostBook& other);
  CostBook& operator=(const CostBook& other);
  CostBook(CostBook&&) noexcept;
  CostBook& operator=(CostBook&&) noexcept;

  // costs.json (docs/costs.md). Throw NotFound, or InvalidArgument that says what is wrong where.
  static CostBook load(const std::string& path);
  static CostBook parse(std::string_view json);
  void save(const std::string& path) const;  // a reader finds the old file whole, or the new
  std::string json() const;

  // What both have seen; of rates and links what `other` says counts.
  void merge(const CostBook& other);
  // One more measurement, or several as their mean. Throws InvalidArgument for what is no time.
  void add(const CostRow& row);
  void set_rates(DeviceRates rates);
  void set_link(LinkRate link);

  std::optional<Cost> find(const CostCall& call, std::string_view device) const;
  // Of a node that makes that call; without a call: what it made last.
  std::optional<Cost> find_node(std::string_view node, std::string_view device,
                                const CostCall* call = nullptr) const;
  // The row of the node that was seen last, whatever the device.
  std::optional<CostRow> last_seen(std::string_view node) const;
  const DeviceRates* rates(std::string_view device) const;  // null: not known
  const LinkRate* link(std::string_view from, std::string_view to) const;

  std::vector<CostRow> rows() const;  // by node, op and device
  std::vector<DeviceRates> all_rates() const;
  std::vector<LinkRate> links() const;
  size_t size() const;  // rows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace emplace
