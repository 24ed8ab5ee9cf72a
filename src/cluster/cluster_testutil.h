#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cluster/master_session.h"
#include "cluster/task.h"

namespace emplace::testing {

// Ports of the loopback for servers of this process.
std::vector<int> free_ports(int count);

// Tasks /job:worker/task:0, 1, … in this process, each with CPU:0 and virtual GPUs.
class Tasks {
 public:
  explicit Tasks(int count, int gpus = 0);
  ~Tasks();
  cluster::Task& task(int i) { return *tasks_[static_cast<size_t>(i)]; }
  // A session whose master is task `own`, over all of them.
  std::unique_ptr<cluster::MasterSession> session(const Graph& graph, int own = 0,
                                                  SessionOptions options = {});

 private:
  std::vector<std::unique_ptr<cluster::Task>> tasks_;
  std::vector<std::shared_ptr<cluster::Peer>> peers_;
};

std::vector<Tensor> run(cluster::MasterSession& session, const std::vector<Output>& fetches,
                        const Feeds& feeds = {}, const std::vector<Node*>& targets = {},
                        int64_t timeout_ms = 20'000);

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return {Code::kOk, ""};
}

}  // namespace emplace::testing
