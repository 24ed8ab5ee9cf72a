#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>

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
  // Serve addresses beyond this machine without encryption and to whoever asks: any of them may run
  // programs here. Otherwise such a server does not start.
  bool insecure_for_everyone = false;
};

// One task of a cluster: runs its part of what sessions ask of any task, and is master of the
// sessions that clients open at its target. Listens on the loopback only, to programs of the same
// user. Thread-safe.
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
  void start() {}  // it runs already
  void join();                 // returns when the server is stopped
  bool join_for(int64_t ms);   // … or, with false, when the time is over
  // Ends every step and session; what the server holds is freed.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Ends the sessions of the server at `target` and forgets what the containers of its whole cluster
// hold; without containers, the default ones.
EMPLACE_API void reset_target(const std::string& target, std::span<const std::string> containers,
                              const SessionOptions& options = {});

}  // namespace emplace
