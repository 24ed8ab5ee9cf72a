#include "cluster/socket/poller.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/errno_text.h"
#include "emplace/error.h"

namespace emplace::cluster {
namespace {

constexpr Poller::Watch kTimer = 0;

Fd half_seconds() {
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec often{{0, 500'000'000}, {0, 500'000'000}};
  timerfd_settime(timer.get(), 0, &often, nullptr);
  return timer;
}

void control(int epoll, int operation, int fd, uint32_t events, Poller::Watch watch) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = watch;
  if (epoll_ctl(epoll, operation, fd, &event) != 0 && errno != ENOENT)
    throw Error(Code::kUnavailable, std::string("epoll: ") + errno_text(errno));
}

}  // namespace

Poller& Poller::get() {
  static auto* const poller = new Poller;
  return *poller;
}

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), timer_(half_seconds()) {
  control(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), EPOLLIN | EPOLLONESHOT, kTimer);
  add_thread();
}

Poller::Watch Poller::watch(int fd, For what, std::weak_ptr<Handler> handler) {
  Entry entry{Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0)),
              (what == For::kReading ? EPOLLIN | EPOLLRDHUP : EPOLLOUT) | uint32_t{EPOLLONESHOT}, false,
              std::move(handler)};
  if (!entry.fd) throw Error(Code::kUnavailable, std::string("fcntl: ") + errno_text(errno));
  const std::lock_guard lock(mutex_);
  watched_.emplace(next_, std::move(entry));
  return next_++;
}

void Poller::arm(Watch watch) {
  const std::lock_guard lock(mutex_);
  const auto it = watched_.find(watch);
  if (it == watched_.end()) return;
  Entry& e = it->second;
  // Known to the kernel from the first time on: it would tell of an end even where nothing is armed.
  control(epoll_.get(), e.known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, e.fd.get(), e.events, watch);
  e.known = true;
}

void Poller::forget(Watch watch) {
  const std::lock_guard lock(mutex_);
  const auto it = watched_.find(watch);
  if (it == watched_.end()) return;
  if (it->second.known) control(epoll_.get(), EPOLL_CTL_DEL, it->second.fd.get(), 0, watch);
  watched_.erase(it);
}

void Poller::on_beat(std::weak_ptr<Beating> beating) {
  const std::lock_guard lock(mutex_);
  beating_.push_back(std::move(beating));
}

void Poller::add_thread() {
  ++idle_;
  std::thread([this] { serve(); }).detach();
}

void Poller::serve() {
  while (true) {
    epoll_event event;
    if (epoll_wait(epoll_.get(), &event, 1, -1) != 1) continue;
    if (--idle_ == 0) add_thread();
    if (event.data.u64 == kTimer) beat();
    else attend(event.data.u64);
    ++idle_;
  }
}

void Poller::attend(Watch watch) {
  std::shared_ptr<Handler> handler;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = watched_.find(watch); it != watched_.end()) handler = it->second.handler.lock();
  }
  if (handler) handler->ready();
}

void Poller::beat() {
  uint64_t count;
  if (read(timer_.get(), &count, sizeof count) != sizeof count) count = 0;
  std::vector<std::shared_ptr<Beating>> all;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(beating_, [&](const std::weak_ptr<Beating>& b) {
      if (auto held = b.lock()) all.push_back(std::move(held));
      else return true;
      return false;
    });
  }
  for (const auto& b : all) b->beat();
  control(epoll_.get(), EPOLL_CTL_MOD, timer_.get(), EPOLLIN | EPOLLONESHOT, kTimer);
}

}  // namespace emplace::cluster
