#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace emplace::data {

class Dataset;

using Clock = std::chrono::steady_clock;
int64_t nanoseconds_since(Clock::time_point t);

// What one stage of a pipeline does in a pass, as its iterator counts it.
// Written by whoever is in the stage, read by anyone.
class StageCounts {
 public:
  using Count = std::atomic<int64_t>;
  static void add(Count& c, int64_t n) { c.fetch_add(n, std::memory_order_relaxed); }
  static void set(Count& c, int64_t n) { c.store(n, std::memory_order_relaxed); }

  std::string op, node;
  std::vector<int64_t> inputs;  // which stages it takes elements from
  Count elements{0};            // given
  Count inside{0};              // nanoseconds that those who asked spent in it and in its inputs
  // Of a stage with threads of its own:
  std::atomic<bool> has_threads{false};
  std::atomic<bool> adapts{false};  // itself, to where the time goes
  Count waited{0};                  // nanoseconds that those who asked waited for its threads
  Count worked{0};                  // nanoseconds that its threads worked, inputs not counted
  Count threads{0};
  Count buffered{0}, buffered_bytes{0}, room{0};  // elements made ahead, and how many may be
};

// The stages of a pass: the dataset, its inputs and theirs, by number; those
// that functions make within are part of the stage that calls the function.
// Thread-safe.
class PipelineCounts {
 public:
  // Datasets with the options of a pipeline are no stages.
  explicit PipelineCounts(const Dataset& root);
  // Null for those that are made within.
  StageCounts* of(const Dataset& d) const;
  const std::vector<std::unique_ptr<StageCounts>>& stages() const { return stages_; }
  int64_t age() const { return nanoseconds_since(begun_); }
  // As TensorFlow's message about it, with fields of ours for what that does
  // not know.
  std::string proto() const;

  std::string name;  // given by the options
  int64_t cpu_budget = 0, ram_budget = 0;

 private:
  int64_t add(const Dataset& d);
  std::vector<std::unique_ptr<StageCounts>> stages_;
  std::unordered_map<const Dataset*, int64_t> numbers_;
  const Clock::time_point begun_ = Clock::now();
};

}  // namespace emplace::data
