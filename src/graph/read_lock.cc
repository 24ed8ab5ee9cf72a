#include "graph/read_lock.h"

namespace emplace {

thread_local const ReadLock* ReadLock::innermost = nullptr;

ReadLock::ReadLock(std::shared_mutex& mutex) : mutex_(mutex), outer_(innermost) {
  for (const ReadLock* l = outer_; l && mine_; l = l->outer_) mine_ = &l->mutex_ != &mutex;
  if (mine_) mutex_.lock_shared();
  innermost = this;
}

ReadLock::~ReadLock() {
  innermost = outer_;
  if (mine_) mutex_.unlock_shared();
}

}  // namespace emplace
