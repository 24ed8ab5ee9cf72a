#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/device.h"
#include "device/spare_memory.h"
#include "emplace/contract.h"
#include "emplace/session.h"
#include "emplace/what_if.h"
#include "exec/instance.h"
#include "exec/program.h"
#include "placement/cost_source.h"
#include "placement/placer.h"
#include "session/cost_sampler.h"
#include "session/live_work.h"
#include "session/pools.h"
#include "session/remote.h"

namespace emplace {

// The programs of one signature, one for each combination of fed shapes; the least recently used
// goes when there are too many.
struct PlanFamily {
  static constexpr size_t kMaxPrograms = 16;
  struct Entry {
    std::vector<Shape> shapes;
    std::shared_ptr<Program> program;
  };
  Signature signature;
  std::mutex mutex;
  std::list<Entry> programs;  // most recently used first
  uint64_t outgrown = 0;      // shapes_outgrown() when they were planned
};

// A step under way, on its caller's stack.
struct ActiveStep {
  Instance* instance;
  uint64_t step;
};

// What sessions over one set of devices have in common.
struct SharedParts {
  Pools pools;
  std::shared_ptr<std::vector<std::shared_ptr<Device>>> devices;
  std::shared_ptr<ResourceManager> resources;
  std::shared_ptr<ResourceManager> streams;  // of random numbers; null: among the resources
};

class Replanner;

struct Session::Impl : std::enable_shared_from_this<Session::Impl> {
  Impl(Graph& graph, std::shared_ptr<Graph> keep, SessionOptions options,
       const KernelRegistry& kernels);
  // On devices, threads and resources of somebody else's. `local_device`: where nodes go that ask
  // for nothing ("": as ever).
  Impl(std::shared_ptr<Graph> graph, SessionOptions options, const KernelRegistry& kernels,
       SharedParts shared, std::string local_device);
  ~Impl();

  std::shared_ptr<PlanFamily> family(Signature signature);
  void run(PlanFamily& family, std::span<const Tensor> feeds, std::vector<Tensor>& fetched,
           const RunOptions& options, RunMetadata* metadata, Rendezvous* rendezvous = nullptr);
  PlacementReport placement(std::span<const Output> fetches);
  // For whoever runs steps himself: the program for these feeds, and how to run it.
  std::shared_ptr<Program> checked_program(PlanFamily& family, std::span<const Tensor> feeds);
  StepRequest request(const RunOptions& options) const;

  // ---- Costs (session_costs.cc).
  CostBook costs() const;
  // What a placer that weighs costs asks: measurements so far, and the machine's rates, which are
  // measured now if they never were. Guesses where the session neither weighs costs nor measures.
  std::shared_ptr<const CostSource> cost_source();
  void save_costs();  // where options.save_costs says; once
  void limit_memory(int64_t bytes, const std::string& device);
  int64_t trim();
  void cancel_all(const Error& error);
  void stop_all() noexcept;  // with the session
  bool is_busy();
  std::vector<WaitingCall> waiting();  // of every step under way
  void close();

  // ---- Placing (session_placement.cc).
  // Places every node that is not placed yet (or, with place_pruned_graph, those of `signature`)
  // and notes in log_waiting each once. Needs place_mutex.
  void place(const Signature& signature);
  PlacementOptions placement_options() const;
  std::shared_ptr<const CostSource> weighed_costs();  // null: the placer does not ask
  int index_of(const Device* device) const;  // -1: none of ours
  std::vector<int> indices(std::span<Device* const> some) const;
  // What was noted goes out when neither the graph nor placing is locked: whoever takes it may
  // wait for a thread (Python's lock) that waits for us.
  void write_waiting_log();
  // Of what is placed. Needs place_mutex.
  Forecast forecast(const Signature& signature);
  // What is made, in turns if that is needed for want of memory. Throws ResourceExhausted where
  // variables and what is computed surely need more than a device has.
  std::shared_ptr<Program> program_that_fits(
      const Signature& signature,
      const std::function<std::shared_ptr<Program>(bool in_turns)>& make);
  // Throws FailedPrecondition where what is placed does not meet the contracts. Needs place_mutex.
  void check_contracts(const Signature& signature);
  Device* device_of(const Node& node) const;
  std::vector<Device*> place_function(const Function& f, Device* caller,
                                      std::span<Device* const> homes);

  Graph& graph;
  const std::shared_ptr<Graph> keep_graph;
  const SessionOptions options;
  const KernelRegistry& kernels;
  Pools pools;
  std::shared_ptr<std::vector<std::shared_ptr<Device>>> devices;  // null once closed
  std::vector<DeviceInfo> device_infos;
  std::vector<DeviceAttributes> attributes;
  const std::shared_ptr<ResourceManager> resources_owner;
  ResourceManager& resources;
  const std::shared_ptr<ResourceManager> streams;
  const bool owns_resources;
  const std::string local_device;
  const std::unique_ptr<const Placer> placer;
  const bool weighs;  // the placer asks for costs
  std::unique_ptr<Replanner> replanner;  // null: what is placed stays
  const std::unique_ptr<RemoteSession> remote;  // null: it runs here

  std::unique_ptr<CostSampler> sampler;  // null: nobody asks for costs
  bool measures = false;                 // steps are sampled

  std::mutex place_mutex;
  std::vector<int> assigned;             // by node id: index into devices, -1
  std::vector<int> given;                // … before anything was placed
  std::shared_ptr<const CostSource> told_costs;  // tests, benchmarks: what to go by
  std::function<double()> told_step_s;           // tests: what whole steps take
  std::string measured_steps;            // what they took where placements were tried, in words
  std::vector<Placement> placements;     // one a round; explain() reads them
  std::vector<std::pair<int, int>> explained_by;  // by node id: round, index in it
  std::unordered_map<int, PlacementRow> told;     // by node id: of rounds that are not kept
  std::set<std::pair<std::string, Device*>> logged_functions;  // with who called
  std::string log_waiting;
  std::vector<Contract> contracts;

  static constexpr size_t kMaxFamilies = 512;
  std::mutex families_mutex;
  std::unordered_map<std::string, std::shared_ptr<PlanFamily>> families;

  std::mutex active_mutex;
  std::condition_variable_any all_done;
  std::vector<ActiveStep> active;
  std::atomic<bool> is_closed{false};
  std::mutex free_mutex;
  bool is_free = false;  // closed, and what it held is given back
  std::atomic<int> occupied{0};  // see Program::occupied

 private:
  void step(PlanFamily& family, std::span<const Tensor> feeds, std::vector<Tensor>& fetched,
            const RunOptions& options, RunMetadata* metadata, Rendezvous* rendezvous);
  void describe_devices();
  void check_node(const Node* n) const;
  std::shared_ptr<Program> program_for(PlanFamily& family, std::span<const Tensor> feeds);
  std::shared_ptr<Program> plan(PlanFamily& family, std::vector<Shape> shapes);
  int drop_idle_instances();
  std::shared_ptr<Program> plan_locked(PlanFamily& family, std::vector<Shape> shapes);
  PlacementReport placed_report(const Signature& signature);
  PlacementReport report_on(std::span<Node* const> nodes) const;
  PlacementRow row_of(const PlacedNode& placed) const;
  void check_feeds(const PlanFamily& family, std::span<const Tensor> feeds) const;
  void fill_metadata(const Program& program, const StepTrace& trace,
                     RunMetadata& metadata) const;
  void run_measured(const PlanFamily& family, Program& program, std::unique_ptr<Instance> instance,
                    const StepRequest& step, std::vector<Tensor>& fetched, StepTrace* asked);
  CostSampler::Absent absent_nodes(const PlanFamily& family, const Program& program);
  std::unique_ptr<CostSampler> make_sampler() const;
  std::atomic<bool> costs_saved_{false};
  std::mutex costs_mutex_;
  std::shared_ptr<const CostSource> latest_costs_;
  uint64_t latest_samples_ = 0;

  const LiveWork live_{[this](const Error& e) { cancel_all(e); },
                       [this] { return remote ? std::vector<WaitingCall>() : waiting(); }};  // servers tell their own
  const SpareMemory spare_{[this] { return drop_idle_instances(); }};  // goes first
};

// Tests and benchmarks: a session over a kernel table of their own.
std::unique_ptr<Session> make_session(Graph& graph, SessionOptions options,
                                      const KernelRegistry& kernels);

// Tests: how sessions plan from now on (a dropped wait, say).
PlannerOptions& planner_options();

// stdout, or where the options say.
void write_log(const SessionOptions& options, const std::string& text);

}  // namespace emplace
