#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "cluster/work_threads.h"
#include "data/iterator.h"
#include "emplace/cluster.h"
#include "service/dispatcher.h"
#include "service/remote.h"

namespace emplace::service {

// Runs the tasks that readers ask it for elements of, as long as its dispatcher knows them. Any
// thread may call.
class Worker final : public cluster::Service {
 public:
  Worker(const DataWorkerOptions& options, cluster::Transport& transport);
  ~Worker() override;
  // Tells the dispatcher where it is; returns when that knows it.
  void begin(const std::string& address);
  void call(std::shared_ptr<IncomingCall> call) override;
  int num_tasks();
  void stop();

  // Is there such a worker in this process?
  static bool is_here(const std::string& address);

 private:
  class Task;
  Bytes next_element(IncomingCall& call, CallScope& scope);
  std::shared_ptr<Task> task(uint64_t id);
  void stay_known();
  void watch(uint64_t& version);
  void drop_others(const proto::WatchWorkerResponse& known);

  const DataWorkerOptions options_;
  const std::shared_ptr<Remote> dispatcher_;
  std::string address_;
  std::atomic<uint64_t> number_{0};  // the dispatcher's for it
  CallScope life_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool stopped_ = false;
  std::map<uint64_t, std::shared_ptr<Task>> tasks_;
  cluster::WorkThreads threads_;
  std::thread watcher_;
};

}  // namespace emplace::service
