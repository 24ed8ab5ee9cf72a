#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "emplace/session.h"

namespace emplace {

// The thread pools of a session, as its options say: the process's (made by the first session and
// shared by all that ask for nothing of their own), the session's own, or named ones.
struct Pools {
  // An inter-op pool; the calling thread is one of its workers.
  struct InterOp {
    std::shared_ptr<ThreadPool> helpers;
    int workers = 1;
  };
  std::vector<InterOp> inter_op;  // at least one; RunOptions::inter_op_thread_pool chooses
  std::shared_ptr<ThreadPool> intra_op;
};

// InvalidArgument when a named pool exists with another number of threads.
Pools make_pools(const SessionOptions& options);

}  // namespace emplace
