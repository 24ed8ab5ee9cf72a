#pragma once
#include "cluster/gather.h"
#include "cluster/master_session.h"

namespace emplace::cluster {

class MasterSession::Run {
 public:
  Run(SessionId session, StepId step) : session_(session), step_(step) {}
  StepId step() const { return step_; }

  void cancel(const Error& error) {
    std::vector<Peer*> peers;
    std::shared_ptr<Gather> gather;
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return;
      cancelled_ = error;
      peers = peers_;
      gather = gather_;
    }
    if (gather) gather->fail(error);
    for (Peer* p : peers) p->end_step(session_, step_, error);
  }
  // From now on a cancellation goes to these.
  void start(std::vector<Peer*> peers, std::shared_ptr<Gather> gather) {
    const std::lock_guard lock(mutex_);
    if (cancelled_) throw *cancelled_;
    peers_ = std::move(peers);
    gather_ = std::move(gather);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    peers_.clear();
    gather_.reset();
  }

 private:
  const SessionId session_;
  const StepId step_;
  std::mutex mutex_;
  Failure cancelled_;
  std::vector<Peer*> peers_;
  std::shared_ptr<Gather> gather_;
};

}  // namespace emplace::cluster
