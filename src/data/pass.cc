#include "data/pass.h"

#include "base/stop_scope.h"

namespace emplace::data {
namespace {

Error gone() { return cancelled("The iterator was destroyed."); }

}  // namespace

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

void PassOptions::merge(const PassOptions& s) {
  const auto take = [](auto& mine, const auto& theirs) {
    if (theirs) mine = theirs;
  };
  take(deterministic, s.deterministic);
  take(autotune, s.autotune);
  take(cpu_budget, s.cpu_budget);
  take(ram_budget, s.ram_budget);
  take(private_threads, s.private_threads);
  take(max_intra_op, s.max_intra_op);
  take(shard_policy, s.shard_policy);
  take(external_state, s.external_state);
}

std::shared_ptr<CalledFunction> Pass::function(const std::shared_ptr<CalledFunction>& f) {
  const std::lock_guard lock(mutex_);
  auto& known = functions_[f->name()];
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
