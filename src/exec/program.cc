#include "exec/program.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "exec/instance.h"

namespace emplace {
namespace {

constexpr int kMeasuredRuns = 3;
constexpr std::chrono::milliseconds kLongestLeave{20};  // a helper's wake-up, on a busy machine
constexpr double kWakeNs = 20'000;   // until a parked helper runs
constexpr double kHandOverNs = 300;  // a node below this is not worth handing to another core

}  // namespace

Program::Program() = default;
Program::~Program() {
  delete spare_.load();
  idle_.clear();
}

void Program::count_completions() {
  roots.clear();
  std::map<std::pair<const Device*, int>, Wiring*> last;
  for (size_t k = 0; k < size(); ++k) {
    Wiring& w = wiring[k];
    if (w.join == 0) roots.push_back(static_cast<uint32_t>(k));
    if (w.queue >= 0) last[{labels[k].device, w.queue}] = &w;
  }
  for (const auto& [queue, w] : last) w->notify = true;
  completions = 0;
  for (const Wiring& w : wiring) completions += w.queue < 0 || w.notify;
  cost_ns = std::vector<std::atomic<uint32_t>>(size());
}

Program::Mode Program::mode(int workers) const {
  if (!in_order_only_possible) return Mode::kParallel;
  if (workers <= 1 || size() < 2) return Mode::kInOrder;
  if (measured_runs_.load(std::memory_order_acquire) < kMeasuredRuns) return Mode::kMeasure;
  return parallel_pays_.load(std::memory_order_relaxed) ? Mode::kParallel : Mode::kInOrder;
}

// A second thread pays when there is enough work, in pieces large enough to hand over, and not
// all of it in one line.
void Program::learned() {
  double total = 0, longest = 0;
  std::vector<double> ready(size(), 0);
  for (size_t i = 0; i < size(); ++i) {
    const double cost = cost_ns[i].load(std::memory_order_relaxed);
    const double end = ready[i] + cost;
    total += cost;
    longest = std::max(longest, end);
    const Wiring& w = wiring[i];
    for (uint32_t k = 0; k < w.num_released + w.num_notified; ++k) {
      double& r = ready[successors[w.successors + k]];
      r = std::max(r, end);
    }
  }
  const bool enough = total > 2 * kWakeNs && total / static_cast<double>(size()) > kHandOverNs;
  parallel_pays_.store(enough && total > 1.1 * longest, std::memory_order_relaxed);
  measured_runs_.fetch_add(1, std::memory_order_release);
}

std::unique_ptr<Instance> Program::take_idle() {
  if (Instance* spare = spare_.exchange(nullptr, std::memory_order_acq_rel))
    return std::unique_ptr<Instance>(spare);
  const std::lock_guard lock(idle_mutex_);
  if (idle_.empty()) return nullptr;
  auto instance = std::move(idle_.back());
  idle_.pop_back();
  return instance;
}

std::unique_ptr<Instance> Program::lease() {
  if (auto instance = take_idle()) return instance;
  using Clock = std::chrono::steady_clock;
  for (const auto until = Clock::now() + kLongestLeave;
       lingering.load(std::memory_order_acquire) > 0 && Clock::now() < until;) {
    std::this_thread::yield();
    if (auto instance = take_idle()) return instance;
  }
  if (auto instance = take_idle()) return instance;  // it came home before we looked
  return std::make_unique<Instance>(*this);
}

void Program::drop_idle() {
  while (take_idle()) {
  }
}

void Program::give_back(std::unique_ptr<Instance> instance) {
  Instance* none = nullptr;
  if (spare_.compare_exchange_strong(none, instance.get(), std::memory_order_acq_rel)) {
    instance.release();
    return;
  }
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(std::move(instance));
}

}  // namespace emplace
