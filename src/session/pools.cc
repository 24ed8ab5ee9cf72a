#include "session/pools.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/cpu_info.h"

namespace emplace {
namespace {

int interop_threads(int asked) {
  if (asked < 0) return 1;  // everything in the caller
  return asked > 0 ? asked : default_interop_threads();
}

int intraop_threads(int asked) { return asked > 0 ? asked : default_intraop_threads(); }

// `threads` workers, of whom the caller is one.
Pools::InterOp make_inter_op(const std::string& name, int threads) {
  return {std::make_shared<ThreadPool>(ThreadPool::Options{name, threads - 1, {}}), threads};
}

std::shared_ptr<ThreadPool> make_intra_op(int threads) {
  return std::make_shared<ThreadPool>(ThreadPool::Options{"intra", threads - 1, {}});
}

// Pools that live as long as the process: threads at rest cost nothing, and no session can be the
// last to need them.
struct Shared {
  std::mutex mutex;
  Pools pools;
  struct Named {
    int asked;
    Pools::InterOp pool;
  };
  std::map<std::string, Named> named;
};

Shared& shared() {
  static Shared* const s = new Shared;
  return *s;
}

Pools::InterOp named_pool(const ThreadPoolOptions& options) {
  Shared& s = shared();
  const auto it = s.named.find(options.global_name);
  if (it == s.named.end()) {
    auto pool = make_inter_op(options.global_name, interop_threads(options.num_threads));
    s.named.emplace(options.global_name, Shared::Named{options.num_threads, pool});
    return pool;
  }
  if (it->second.asked != options.num_threads)
    throw invalid_argument(fmt::format(
        "Pool {} configured previously with num_threads={}; cannot re-configure with "
        "num_threads={}",
        options.global_name, it->second.asked, options.num_threads));
  return it->second.pool;
}

}  // namespace

Pools make_pools(const SessionOptions& options) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  Pools pools;
  for (const ThreadPoolOptions& o : options.session_inter_op_thread_pool)
    pools.inter_op.push_back(o.global_name.empty()
                                 ? make_inter_op("inter", interop_threads(o.num_threads))
                                 : named_pool(o));
  const int inter = interop_threads(options.inter_op_parallelism_threads);
  const int intra = intraop_threads(options.intra_op_parallelism_threads);
  if (options.use_per_session_threads) {
    if (pools.inter_op.empty()) pools.inter_op.push_back(make_inter_op("inter", inter));
    pools.intra_op = make_intra_op(intra);
    return pools;
  }
  if (!s.pools.intra_op) {
    // Who runs everything in its caller does so for itself only.
    const int for_all = interop_threads(std::max(0, options.inter_op_parallelism_threads));
    s.pools.inter_op = {make_inter_op("inter", for_all)};
    s.pools.intra_op = make_intra_op(intra);
  }
  if (pools.inter_op.empty()) {
    pools.inter_op = s.pools.inter_op;
    if (options.inter_op_parallelism_threads < 0) pools.inter_op[0].workers = 1;
  }
  pools.intra_op = s.pools.intra_op;
  return pools;
}

}  // namespace emplace
