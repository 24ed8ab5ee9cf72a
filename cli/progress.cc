#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace emplace::cli {

Progress::Progress(int total) : total_(total) {
  if (isatty(STDERR_FILENO)) painter_ = std::thread([this] { paint(); });
}

Progress::~Progress() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  painter_.join();
}

void Progress::paint() {
  std::unique_lock lock(mutex_);
  bool shown = false;
  auto next = start_ + std::chrono::seconds(1);
  while (!changed_.wait_until(lock, next, [&] { return over_; })) {
    draw();
    shown = true;
    next = Clock::now() + std::chrono::milliseconds(100);
  }
  if (shown) std::cerr << "\r\033[K" << std::flush;
}

void Progress::draw() const {
  const int done = done_.load(std::memory_order_relaxed);
  const std::string filled(static_cast<size_t>(30.0 * done / total_), '=');
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::cerr << fmt::format("\r[{:<30}] {}/{}  {:.0f} s", filled, done, total_, seconds)
            << std::flush;
}

}  // namespace emplace::cli
