#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "cluster/peer.h"
#include "exec/partition.h"
#include "placement/placer.h"

namespace emplace::cluster {

// A client's session on a cluster: its graph, placed on the devices of all tasks, cut by task, run by
// one message to each task that a step needs. Any thread may call, several at once.
class MasterSession {
 public:
  // One step that a client waits for; `cancel` ends it on every task.
  class Run;

  // `peers`: the tasks that the session may use, `own` the master's. Nothing is asked of them yet.
  MasterSession(SessionId id, std::vector<std::shared_ptr<Peer>> peers, size_t own,
                SessionOptions options);
  ~MasterSession();

  SessionId id() const { return id_; }
  // Its client is not the tasks' own user: its parts keep to the tasks' rules. Before `extend`.
  void confine() { confined_ = true; }
  // Asks every task for its devices, and waits for all. Throws when `timeout_ms` (0: none) is over, or
  // when what it gives to `on_cancel` is called.
  using OnCancel = std::function<void(std::function<void()>)>;
  void connect(int64_t timeout_ms, const OnCancel& on_cancel = [](std::function<void()>) {});
  // Adds nodes and functions; returns the graph's new version. Throws Aborted when `version` is not
  // the graph's.
  int64_t extend(proto::GraphDef def, int64_t version);
  int64_t version() const { return version_; }
  std::vector<DeviceAttributes> devices() const { return attributes_; }

  struct Request {
    std::vector<std::string> feeds, fetches, targets;  // "x:0", …, "train"
    bool operator<(const Request&) const;
  };
  std::shared_ptr<Run> begin();
  std::vector<Tensor> run(const std::shared_ptr<Run>& run, const Request& request, std::span<const Tensor> feeds,
                          int64_t timeout_ms, RunMetadata* metadata = nullptr);
  // A step in pieces: a handle for it, then each piece by itself.
  std::string begin_partial(const Request& request);
  std::vector<Tensor> run_partial(const std::shared_ptr<Run>& run, const std::string& handle,
                                  std::span<const std::string> feeds, std::span<const Tensor> values,
                                  std::span<const std::string> fetches, int64_t timeout_ms);
  // Who waits in the steps under way, on all tasks that answer at once; the longest first.
  std::vector<WaitingCall> waiting();
  // Ends every step, and the session on every task that can be reached within a second.
  void close(const Error& why);

 private:
  struct Cut;
  struct Partial;

  Failure closed();  // why
  std::shared_ptr<Cut> cut_for(const Request& request);
  std::shared_ptr<Cut> cut(const Request& request);
  void end(Run& run);
  void add_nodes(const proto::GraphDef& def);
  void place(const Signature& signature);
  void hand_out(Cut& cut, Partition partition);

  const SessionId id_;
  const std::vector<std::shared_ptr<Peer>> peers_;
  const size_t own_;
  const SessionOptions options_;
  bool confined_ = false;
  const std::unique_ptr<const Placer> placer_;
  std::vector<DeviceInfo> infos_;
  std::vector<DeviceAttributes> attributes_;
  std::vector<int> task_of_;          // by device: index into peers_
  std::vector<std::string> hosts_;    // by peer: its first CPU

  std::mutex graph_mutex_;  // guards what follows
  Graph graph_;
  std::atomic<int64_t> version_{0};
  std::vector<int> assigned_;  // by node id: device
  std::map<Request, std::shared_ptr<Cut>> cuts_;
  int next_part_ = 1;
  std::map<std::string, std::shared_ptr<Partial>> partials_;
  int64_t next_partial_ = 1;

  std::mutex steps_mutex_;  // guards what follows
  StepId next_step_ = 1;
  std::map<StepId, std::shared_ptr<Run>> live_;
  Failure closed_;
};

}  // namespace emplace::cluster
