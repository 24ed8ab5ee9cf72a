#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/failure.h"
#include "cluster/transport.h"
#include "emplace/cluster.h"
#include "emplace/error.h"
#include "emplace/proto/graph.pb.h"
#include "emplace/session.h"
#include "exec/waiting.h"
#include "kernel/collectives.h"

namespace emplace::cluster {

class Task;

// A master's session and one of its steps; steps are numbered from 1 on.
using SessionId = uint64_t;
using StepId = uint64_t;

// One task's part of a graph, to be run again and again.
struct PartSpec {
  SessionId session = 0;
  int part = 0;  // the master's number for it
  proto::GraphDef graph;
  std::vector<std::string> feeds, fetches, targets;
  std::vector<std::pair<int, std::string>> sends;  // channel, and the task that takes from it
  bool soft_placement = false;  // in bodies of functions
  bool confined = false;        // keeps to the task's rules for others than its own user
};

struct PartRun {
  SessionId session = 0;
  int part = 0;
  StepId step = 0;
  StepId oldest = 0;  // all steps before this one are over
  std::vector<Tensor> feeds;
  // Of a traced step: what the nodes did, and how long the part took. Called before the answer is told.
  std::function<void(const std::vector<NodeStats>& nodes, int64_t took_ns)> on_stats = {};
};

struct TaskInfo {
  uint64_t incarnation = 0;
  std::vector<DeviceAttributes> devices;
};

using Done = std::function<void(Failure)>;

// A task as others speak to it: here, or over a transport. Calls return at once; what they are told
// comes from any thread, exactly once.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const std::string& name() const = 0;  // "/job:ps/replica:0/task:0"
  virtual Task* here() { return nullptr; }      // when it is in this process
  // Waits for a task that is not up yet.
  virtual void describe(std::function<void(Failure, TaskInfo)> done) = 0;
  virtual void add_part(PartSpec part, Done done) = 0;
  virtual void run_part(PartRun run, std::function<void(Failure, std::vector<Tensor>)> done) = 0;
  // `done` when the value's memory may be written over, or with what came between; what the task can't
  // take fails its step there.
  virtual std::shared_ptr<OutgoingCall> push(SessionId session, StepId step, int64_t channel,
                                             const Tensor& value, Done done) = 0;
  virtual void end_step(SessionId session, StepId step, const Error& error) = 0;
  // Who waits in the session's steps.
  virtual void waiting(SessionId session, std::function<void(Failure, std::vector<WaitingCall>)> done) = 0;
  virtual void close_session(SessionId session, Done done) = 0;
  virtual void status(std::function<void(Failure, TaskStatus)> done) = 0;
  // Forgets what the containers hold; none: the default one.
  virtual void reset(std::vector<std::string> containers, Done done) = 0;
  // Collective operations: see CollectiveTasks.
  virtual void join_group(int32_t group, int32_t size, const std::string& member,
                          std::function<void(Failure, CollectiveMembers)> done) = 0;
  virtual void push_part(const CollectivePart& part, const Tensor& value, Done sent) = 0;
  virtual void watch_collectives(Done done) = 0;
};

}  // namespace emplace::cluster
