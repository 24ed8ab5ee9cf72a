#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "cluster/file_rules.h"
#include "cluster/peer.h"
#include "cluster/step_meter.h"
#include "cluster/work_threads.h"
#include "emplace/eager.h"
#include "session/session_impl.h"

namespace emplace::cluster {

// One process of a cluster: its devices, and what outlives sessions: variables, queues and tables,
// by container and name. Runs the parts that masters give it. Any thread may call.
class Task {
 public:
  // Finds the tasks that values are sent to; called once for each that a part names.
  using Find = std::function<std::shared_ptr<Peer>(const std::string& task)>;
  Task(const DeviceName& name, SessionOptions options, Find find);
  ~Task();

  // What those may do who are not of the task's own user. Before anything is asked of it.
  void set_rules(PeerRules rules) { rules_ = std::move(rules); }
  // Who tells the members of a group of each other; by itself the task. Before anything is asked of it.
  void set_leader(std::string task);

  const std::string& name() const { return name_; }
  const std::string& job() const { return job_; }
  const TaskInfo& info() const { return info_; }
  WorkThreads& threads() { return threads_; }
  const std::shared_ptr<Collectives>& collectives() const { return collectives_; }
  // An eager engine on its devices, with variables of its own.
  std::unique_ptr<Eager> eager() const;
  const PeerRules& rules() const { return rules_; }

  // They throw what they fail with; run_part returns when the part has run.
  void add_part(PartSpec spec);
  std::vector<Tensor> run_part(const PartRun& run);
  void push(SessionId session, StepId step, int64_t channel, Tensor value);
  void end_step(SessionId session, StepId step, const Error& error);
  std::vector<WaitingCall> waiting(SessionId session);
  void close_session(SessionId session);
  void reset(const std::vector<std::string>& containers);
  TaskStatus status();
  void stop();  // ends every step and session

 private:
  class OtherTasks;
  class Part;
  class Step;
  struct Open;  // a session

  std::shared_ptr<Open> find(SessionId session);
  std::shared_ptr<Step> step_of(Open& open, StepId step);

  const std::string name_, job_;
  const SessionOptions options_;
  const Find find_peer_;
  PeerRules rules_;
  Pools pools_;
  std::shared_ptr<std::vector<std::shared_ptr<Device>>> devices_;
  const std::shared_ptr<ResourceManager> resources_ = std::make_shared<ResourceManager>();
  const std::shared_ptr<OtherTasks> other_tasks_;
  const std::shared_ptr<Collectives> collectives_;
  TaskInfo info_;
  std::mutex mutex_;
  std::map<SessionId, std::shared_ptr<Open>> open_;
  bool stopped_ = false;
  std::string last_error_;
  StepMeter meter_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  WorkThreads threads_;  // goes first
};

// Gives every node of a part its container: the job's for what sessions share, one of the session's
// own for the rest (all of it, when isolated).
void set_containers(proto::GraphDef& graph, const std::string& job, SessionId session,
                    bool isolated);
std::string private_container(SessionId session);

// The task in this process, as a peer.
std::shared_ptr<Peer> local_peer(Task& task);

}  // namespace emplace::cluster
