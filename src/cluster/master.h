#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "cluster/master_session.h"
#include "cluster/methods.h"
#include "cluster/transport.h"
#include "cluster/work_threads.h"

namespace emplace::cluster {

// The sessions that clients have opened at this task. Speaks TensorFlow's protocol: its own clients
// are served too. To Emplace's it also speaks a shorter one. Any thread may call.
class Master {
 public:
  // `peers`: all tasks of the cluster, the master's own at `own`.
  Master(std::vector<std::shared_ptr<Peer>> peers, size_t own, SessionOptions defaults);
  ~Master();

  // Answers a client's call, on a thread that may wait. False when there is no such method.
  bool serve(const std::shared_ptr<IncomingCall>& call);
  void stop();  // ends every session

 private:
  struct Open;  // a session, and the calls that it has prepared
  struct Method;
  static const Method kMethods[];

  Answer create_session(IncomingCall& call);
  Answer extend_session(IncomingCall& call);
  Answer run_step(IncomingCall& call);
  Answer close_session(IncomingCall& call);
  Answer list_devices(IncomingCall& call);
  Answer reset(IncomingCall& call);
  Answer make_callable(IncomingCall& call);
  Answer run_callable(IncomingCall& call);
  Answer release_callable(IncomingCall& call);
  Answer partial_run_setup(IncomingCall& call);

  Answer status(IncomingCall& call);
  Answer prepare(IncomingCall& call);
  Answer run_prepared(IncomingCall& call);
  Answer waiting(IncomingCall& call);

  std::shared_ptr<Open> find(const IncomingCall& call, const std::string& handle);
  std::shared_ptr<Open> find(const IncomingCall& call, SessionId session);
  std::vector<std::shared_ptr<Peer>> visible(std::span<const std::string> filters) const;
  std::shared_ptr<MasterSession::Run> begin(Open& open, IncomingCall& call);
  std::vector<Tensor> run(Open& open, IncomingCall& call, const MasterSession::Request& request,
                          std::span<const Tensor> feeds, int64_t timeout_ms, RunMetadata* metadata = nullptr);
  void end_all(const Error& why);

  const std::vector<std::shared_ptr<Peer>> peers_;
  const size_t own_;
  const SessionOptions defaults_;
  std::mutex mutex_;
  std::map<SessionId, std::shared_ptr<Open>> open_;
  WorkThreads threads_;  // goes first
};

}  // namespace emplace::cluster
