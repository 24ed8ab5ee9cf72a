#include "kernel/pending.h"

#include <utility>

namespace emplace {

void conclude(std::unique_ptr<Continuation> kernel, std::optional<Error> error) {
  if (error) kernel->fail(std::move(*error));
  else kernel->done();
}

void Pending::on_cancel(std::function<void()> f) {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;  // the step may be over, too
  }
  const uint64_t id = cancellation_.add(std::move(f));
  const std::lock_guard lock(mutex_);
  if (over_) cancellation_.remove(id);
  else callback_ = id;
}

void Pending::end(std::optional<Error> error) {
  uint64_t callback;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    callback = std::exchange(callback_, 0);
  }
  if (callback) cancellation_.remove(callback);
  conclude(std::move(continuation_), std::move(error));
}

}  // namespace emplace
