#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster/transport.h"
#include "cluster/wire.h"
#include "emplace/cluster.h"
#include "emplace/proto/data_service.pb.h"

namespace emplace::service {

using cluster::Bytes;
using cluster::IncomingCall;
using Clock = std::chrono::steady_clock;

// tf.data.experimental.service.ShardingPolicy.
enum class Sharding : int { kOff, kDynamic, kFile, kData, kFileOrData, kHint };
inline bool is_static(Sharding s) { return s >= Sharding::kFile; }

// Knows the datasets, who works on them and who reads them. A job is a name for one dataset being
// gone through, an iteration of it one going through, a task a worker's part of an iteration. Never
// runs a dataset itself. Who holds a call of Watch… is there; who lets it go has gone. Any thread
// may call.
class Dispatcher final : public cluster::Service {
 public:
  explicit Dispatcher(const DataDispatcherOptions& options);
  ~Dispatcher() override;
  void call(std::shared_ptr<IncomingCall> call) override;
  int num_workers();
  // Answers all who wait, Unavailable.
  void stop();

 private:
  struct Dataset {
    std::string graph, metadata;
  };
  struct Task {
    uint64_t iteration = 0, worker = 0;
  };
  struct Reader {
    std::shared_ptr<IncomingCall> watch;
    uint64_t seen = 0;
  };
  struct Iteration {
    std::string job;
    int64_t repetition = 0;
    std::map<uint64_t, std::string> tasks;  // that are not at their ends: the workers' addresses
    std::map<uint64_t, Reader> readers;
    std::map<std::pair<int, int64_t>, int64_t> splits;  // the next number, by source and round
    uint64_t version = 1;
    bool some_ended = false, finished = false;
    Clock::time_point left = Clock::now();  // by its last reader
  };
  struct Job {
    std::string dataset;
    proto::JobParameters parameters;
    bool anonymous = false;
    std::map<int64_t, uint64_t> iterations;
  };
  struct Worker {
    std::string address;
    int index = -1;  // among the configured ones
    std::shared_ptr<IncomingCall> watch;
    uint64_t version = 1, seen = 0;
    bool gone = false;
    Clock::time_point since = Clock::now();
  };

  Bytes answer_of(std::string_view method, IncomingCall& call);
  Bytes register_dataset(const proto::RegisterDatasetRequest& r);
  Bytes find_dataset(const proto::FindDatasetRequest& r);
  Bytes open_iteration(const proto::OpenIterationRequest& r);
  Bytes close_iteration(const proto::CloseIterationRequest& r);
  Bytes register_worker(const proto::RegisterWorkerRequest& r);
  Bytes find_task(const proto::FindTaskRequest& r);
  Bytes end_task(const proto::EndTaskRequest& r);
  Bytes next_split(const proto::NextSplitRequest& r);
  void watch_iteration(const std::shared_ptr<IncomingCall>& call);
  void watch_worker(const std::shared_ptr<IncomingCall>& call);

  // ---- With the lock.
  Job& job(const proto::OpenIterationRequest& r);
  Iteration& iteration(uint64_t id);
  int index_for(const std::string& address) const;
  void add_task(uint64_t iteration, uint64_t worker);
  void drop_task(uint64_t task, bool ended);
  void leave(uint64_t iteration, uint64_t reader);
  void forget(uint64_t iteration);
  void lose(uint64_t worker);
  void changed(Iteration& it);
  void changed(Worker& w);
  void tell(Iteration& it);
  void tell(uint64_t id, Worker& w);
  // Answers are sent when the lock is free.
  void later(std::shared_ptr<IncomingCall> call, cluster::Answer answer);
  void send_answers(std::unique_lock<std::mutex>& lock);

  void keep_time();

  const DataDispatcherOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Dataset> datasets_;
  std::map<std::string, Job> jobs_;
  std::map<uint64_t, Iteration> iterations_;
  std::map<uint64_t, Task> tasks_;
  std::map<uint64_t, Worker> workers_;
  std::vector<std::pair<std::shared_ptr<IncomingCall>, cluster::Answer>> answers_;
  uint64_t last_id_;
  bool stopped_ = false;
  std::thread timekeeper_;
};

}  // namespace emplace::service
