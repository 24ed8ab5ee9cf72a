#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/session.h"

namespace emplace {

// The tasks of each job, by number, as "host:port".
using ClusterSpec = std::map<std::string, std::map<int, std::string>>;

struct ServerOptions {
  ClusterSpec cluster = {};
  std::string job = {};  // may be left out where the cluster has one job
  int task = 0;
  int port = 0;  // where to listen; 0: as the cluster says
  std::string protocol = "grpc";
  SessionOptions session = {};  // of the devices; a client's own options hold for its sessions
  // A folder of certificates, as `make_cluster_keys` makes (empty: as EMPLACE_TLS says): this task's, or
  // the one above it. A server that has them also serves other machines: tasks of its cluster, and clients
  // that its authority knows.
  std::string tls = {};
  // What others may do than programs of the same user on this machine: touch files below these folders,
  // and use these of the operations that run code of this process's ("PyFunc").
  std::vector<std::string> files = {};
  std::vector<std::string> allow = {};
  // What is taken from a peer; 0: what memory allows, or any.
  size_t max_message_bytes = 0;
  int max_calls_per_second = 0;     // not of programs of the same user
  int64_t longest_call_ms = 0;      // …
  // Serve addresses beyond this machine without encryption and to whoever asks: any of them may run
  // programs here. Otherwise such a server does not start.
  bool insecure_for_everyone = false;
};

// One task of a cluster: runs its part of what sessions ask of any task, and is master of the
// sessions that clients open at its target. Listens on the loopback only, to programs of the same
// user, unless it has certificates. Thread-safe.
class EMPLACE_API Server {
 public:
  // Starts at once. Throws what TensorFlow throws for definitions that can't be; Unknown where the
  // port is taken; FailedPrecondition where it would not be safe.
  explicit Server(ServerOptions options);
  ~Server();  // as stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // A cluster of one task on a port that the system chooses.
  static std::unique_ptr<Server> create_local_server(SessionOptions session = {});

  std::string target() const;  // "grpc://localhost:2222"
  int port() const;
  // Where the collective operations of this task meet those of the others; for Eager::set_collectives.
  std::shared_ptr<Resource> collectives() const;
  void start() {}  // it runs already
  void join();                 // returns when the server is stopped
  bool join_for(int64_t ms);   // … or, with false, when the time is over
  // Ends every step and session; what the server holds is freed.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- Eager work on other tasks.

class Eager;
// From now on operations, variables and functions of the engine may be on the devices of these tasks; what
// is there stays there until it is read. Waits until all are up. The task `own_job`, `own_task` is the
// process itself ("": none of them is). Tasks of earlier calls are let go.
EMPLACE_API void connect_tasks(Eager& eager, const ClusterSpec& cluster, const std::string& own_job = {},
                               int own_task = 0);

// ---- How a cluster is.

struct TaskStatus {
  std::string task;       // "/job:ps/replica:0/task:0"
  std::string problem;    // why nothing more is known of it; empty: it has answered
  uint64_t incarnation = 0;
  int sessions = 0;            // that have a part here
  int64_t steps = 0;           // of which parts have run here
  double steps_per_second = 0;  // over the last ten seconds
  int64_t memory_bytes = 0;    // of the process
  double uptime_seconds = 0;
  std::string last_error;      // of a step; empty: none has failed
};
// Asks the server at `target` for all tasks of its cluster; those that are silent have a problem.
EMPLACE_API std::vector<TaskStatus> cluster_status(const std::string& target);

// ---- Which task this process is.

struct FoundTask {
  std::string by;  // who says so: "TF_CONFIG", "Slurm", "Open MPI", "torchrun", "Kubernetes"
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  EMPLACE_API std::string str() const;  // in one line
};
// As the environment says it; none where it says nothing. Where processes only have numbers, they are
// /job:worker, and listen from `port` on (0: EMPLACE_PORT, else 2222), each on its machine at the next.
EMPLACE_API std::optional<FoundTask> find_task(int port = 0);

// Slurm's ways to write lists: "node[01-03,7],x" and "2(x3),1". They throw InvalidArgument.
EMPLACE_API std::vector<std::string> slurm_host_names(const std::string& list);
EMPLACE_API std::vector<int> slurm_task_counts(const std::string& text);

// ---- Certificates, by which processes on several machines know each other.

struct ClusterKeys {
  std::string folder;
  std::map<std::string, int> jobs = {};     // how many tasks each has
  std::vector<std::string> clients = {};    // names: letters, digits, _ and -
  int days = 365;                           // how long they are good
};
// Makes an authority in the folder, if there is none yet, and below it a folder for each task ("ps-0") and
// each client ("client-alice") that has none: that one is brought to its machine, by a way that nobody
// else reads, and EMPLACE_TLS names it there. The authority's own key stays. Returns the folders made.
EMPLACE_API std::vector<std::string> make_cluster_keys(const ClusterKeys& keys);
// A text by which a client is let in that has no more than the authority's certificate: its EMPLACE_TOKEN.
EMPLACE_API std::string make_client_token(const std::string& folder, const std::string& client, int days = 30);
// What this process's sessions show from now on, instead of EMPLACE_TLS and EMPLACE_TOKEN.
EMPLACE_API void use_cluster_keys(const std::string& folder, const std::string& token = {});

// A call of a step under way that has begun and waits: for a value of another task, for room in a queue, …
struct WaitingNode {
  std::string node, op, device;
  std::string source;        // the user's line
  std::string awaits, from;  // a value of another task, "MatMul:0", and the device that is to send it
  double seconds = 0;        // so far
};

// Who waits in a session's steps, on all tasks, now; whoever waited longest first.
EMPLACE_API std::vector<WaitingNode> waiting(Session& session);

// Ends the sessions of the server at `target` and forgets what the containers of its whole cluster
// hold; without containers, the default ones.
EMPLACE_API void reset_target(const std::string& target, std::span<const std::string> containers,
                              const SessionOptions& options = {});

// ---- Input pipelines that servers run (tf.data.experimental.service).

struct DataDispatcherOptions {
  int port = 0;  // 0: the system chooses
  // Of workers that share a dataset out by files or elements, in order: "host", "host:port" or "host:%port%".
  std::vector<std::string> workers = {};
  int64_t check_interval_ms = 0;  // how often old jobs are looked for; 0: every ten minutes
  int64_t job_timeout_ms = 0;     // how long one without readers is kept; 0: five minutes; -1: for ever
  int64_t worker_timeout_ms = 0;  // how long a worker that went away is waited for
};

// Hands datasets out to the workers that come to it, and tells those who read where they are. Reached by
// programs of the same user on this machine alone. Thread-safe.
class EMPLACE_API DataDispatcher {
 public:
  explicit DataDispatcher(DataDispatcherOptions options);
  ~DataDispatcher();  // as stop()
  DataDispatcher(const DataDispatcher&) = delete;
  DataDispatcher& operator=(const DataDispatcher&) = delete;
  int port() const;
  int num_workers() const;
  bool join_for(int64_t ms);  // true: it is stopped
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct DataWorkerOptions {
  std::string dispatcher;                    // "localhost:5000"
  std::string address = "localhost:%port%";  // as others reach it
  int port = 0;
  int64_t dispatcher_timeout_ms = 0;  // how long a dispatcher that went away is waited for; 0: an hour
};

// Runs what its dispatcher hands out, and gives the elements to those who read. Thread-safe.
class EMPLACE_API DataWorker {
 public:
  // Returns when the dispatcher knows it.
  explicit DataWorker(DataWorkerOptions options);
  ~DataWorker();  // as stop()
  DataWorker(const DataWorker&) = delete;
  DataWorker& operator=(const DataWorker&) = delete;
  int port() const;
  int num_tasks() const;
  bool join_for(int64_t ms);
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a program that registered the dataset at the dispatcher "host:port" said of it (element_spec: its
// elements' structure, as TensorFlow writes it). NotFound where there is no such dataset.
EMPLACE_API std::string registered_element_spec(const std::string& dispatcher, const std::string& dataset);

}  // namespace emplace
