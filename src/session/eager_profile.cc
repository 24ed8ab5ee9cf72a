#include "session/eager_profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace emplace {
namespace {

int64_t now_ns() {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::system_clock;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

EagerProfile& EagerProfile::get() {
  static EagerProfile* const profile = new EagerProfile;  // other threads may outlive statics
  return *profile;
}

void EagerProfile::start() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
  on_ = true;
}

std::vector<ProfiledCall> EagerProfile::stop() {
  const std::lock_guard lock(mutex_);
  on_ = false;
  return std::exchange(calls_, {});
}

EagerProfile::Call::Call(std::string name, std::string device) {
  call_.name = std::move(name);
  call_.device = std::move(device);
  call_.thread = static_cast<int64_t>(::syscall(SYS_gettid));
  call_.start_ns = now_ns();
}

EagerProfile::Call::~Call() {
  call_.end_ns = now_ns();
  EagerProfile& all = get();
  const std::lock_guard lock(all.mutex_);
  if (all.on()) all.calls_.push_back(std::move(call_));
}

void start_profile() { EagerProfile::get().start(); }
std::vector<ProfiledCall> stop_profile() { return EagerProfile::get().stop(); }

}  // namespace emplace
