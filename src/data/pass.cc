#include "data/pass.h"

#include "base/cpu_info.h"
#include "base/stop_scope.h"
#include "data/splits.h"

namespace emplace::data {
namespace {

constexpr int64_t kRamBudget = int64_t{256} << 20;

int64_t cores() {
  static const int n = default_num_threads();
  return n;
}

Error gone() { return cancelled("The iterator was destroyed."); }

}  // namespace

Pass::Pass(PassOptions options, std::shared_ptr<PipelineCounts> counts)
    : options_(std::move(options)), budget_(options_), counts_(std::move(counts)) {}

Pass::~Pass() = default;

void Pass::share_out(std::unique_ptr<SplitSources> splits) { splits_ = std::move(splits); }

void Pass::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (CallScope* s : scopes_) s->cancel(gone());
}

StageScope::StageScope(Pass& pass) : pass_(pass) {
  const std::lock_guard lock(pass_.mutex_);
  pass_.scopes_.push_back(&calls);
  if (pass_.ended_) calls.cancel(gone());
}

StageScope::~StageScope() {
  const std::lock_guard lock(pass_.mutex_);
  std::erase(pass_.scopes_, &calls);
}

void StageScope::end() { calls.cancel(gone()); }

// ---- Budget.

Budget::Budget(const PassOptions& o)
    : cpu(o.cpu_budget > 0 ? o.cpu_budget : cores()),
      ram(o.ram_budget > 0 ? o.ram_budget : kRamBudget) {}

void Budget::compute(double more) {
  double old = computing_.load();
  while (!computing_.compare_exchange_weak(old, old + more)) {
  }
}

// ---- FunctionTurn.

FunctionTurn::FunctionTurn(Pass& pass, CallScope& scope)
    : pass_(pass), loops_(pass.options().max_intra_op) {
  const int64_t most = pass_.options().private_threads;
  if (most == 0) return;
  Caller c{pass_, scope};
  std::unique_lock lock(pass_.mutex_);
  c.wait(pass_.function_ended_, lock, [&] { return pass_.in_functions_ < most; });
  ++pass_.in_functions_;
}

FunctionTurn::~FunctionTurn() {
  if (pass_.options().private_threads == 0) return;
  const std::lock_guard lock(pass_.mutex_);
  --pass_.in_functions_;
  pass_.function_ended_.notify_one();
}

void PassOptions::merge(const PassOptions& s) {
  const auto take = [](auto& mine, const auto& theirs) {
    if (theirs) mine = theirs;
  };
  take(deterministic, s.deterministic);
  take(autotune, s.autotune);
  take(cpu_budget, s.cpu_budget);
  take(ram_budget, s.ram_budget);
  take(initial_parallelism, s.initial_parallelism);
  take(min_parallelism, s.min_parallelism);
  take(all_cores_at_once, s.all_cores_at_once);
  take(warm_start, s.warm_start);
  take(inject_prefetch, s.inject_prefetch);
  take(parallel_map, s.parallel_map);
  take(parallel_filter, s.parallel_filter);
  take(parallel_batch, s.parallel_batch);
  take(private_threads, s.private_threads);
  take(max_intra_op, s.max_intra_op);
  take(shard_policy, s.shard_policy);
  take(external_state, s.external_state);
  if (!s.name.empty()) name = s.name;
}

std::shared_ptr<CalledFunction> Pass::function(const std::shared_ptr<CalledFunction>& f,
                                               uint64_t branch) {
  const std::lock_guard lock(mutex_);
  auto& known = functions_[{f->name(), branch}];
  if (!known) known = f->afresh();
  return known;
}

void Caller::attend(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  try {
    check();
    StopScope::attend();
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
}

}  // namespace emplace::data
