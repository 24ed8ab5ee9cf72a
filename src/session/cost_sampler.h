#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "emplace/plan.h"
#include "exec/instance.h"
#include "exec/program.h"
#include "placement/costs/source.h"

namespace emplace {

// Fills a session's book from some of its steps: of every program its first step that is warm, then
// whenever steps have run a hundred times as long as sampling has taken. Any thread.
class CostSampler {
 public:
  CostSampler(CostBook book, DeviceKinds kinds) : book_(std::move(book)), kinds_(std::move(kinds)) {}

  // Whether the step that begins now is to be sampled. One that says yes is followed by `sampled`
  // or `failed`, any other by `ran`.
  bool wants(Program& program);
  static void ran(Program& program, int64_t ns);
  static void failed(Program& program);
  // A step that was traced, with shapes and settling, in `ns`. `absent`, asked for once a program:
  // its nodes that the program has no instruction for, with the kinds of their devices.
  using Absent = std::vector<std::pair<std::string, std::string>>;
  void sampled(Program& program, const Graph& graph, const StepTrace& trace, int64_t ns,
               const std::function<Absent()>& absent);

  CostBook book() const;
  uint64_t samples() const { return samples_.load(std::memory_order_acquire); }
  const std::string& kind(const Device& device) const { return kinds_.at(device.name()); }
  const DeviceKinds& kinds() const { return kinds_; }

 private:
  mutable std::mutex mutex_;
  CostBook book_;
  const DeviceKinds kinds_;
  std::atomic<uint64_t> samples_{0};
};

// Kinds of these devices: those alike have one name.
DeviceKinds device_kinds(const std::vector<std::shared_ptr<Device>>& devices);

}  // namespace emplace
