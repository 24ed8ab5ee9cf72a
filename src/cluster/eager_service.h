#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "cluster/task.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// What eager programs of other processes do in a task: each has an engine of its own here, with its
// values, variables and functions, until it goes. A program sees nothing of another's. Any thread
// may call.
class EagerService {
 public:
  explicit EagerService(Task& task) : task_(task) {}
  ~EagerService() { stop(); }
  // False when there is no such method.
  bool serve(const std::shared_ptr<IncomingCall>& call);
  void stop();  // every program is told that the task goes

 private:
  struct Program;
  struct Work;
  class Running;

  Answer answer_of(std::string_view method, IncomingCall& call);
  Answer open(IncomingCall& call);
  void hold(const std::shared_ptr<IncomingCall>& call);
  void close(uint64_t context);
  Answer run(IncomingCall& call);
  Answer fetch(IncomingCall& call);
  Answer drop(IncomingCall& call);
  std::shared_ptr<Program> find(uint64_t context, const Caller& caller);

  Task& task_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Program>> programs_;
};

}  // namespace emplace::cluster
