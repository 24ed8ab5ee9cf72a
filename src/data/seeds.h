#pragma once
#include <mutex>
#include <utility>

#include "kernel/philox.h"
#include "kernel/resources.h"

namespace emplace::data {

using Seeds = std::pair<int64_t, int64_t>;

// Two zeros mean: any.
Seeds seeds_or_any(int64_t seed, int64_t seed2);

// Words of a generator one by one, and how many there were.
class CountedWords {
 public:
  explicit CountedWords(Seeds seeds);
  uint32_t operator()() {
    ++count_;
    return words_();
  }
  int64_t count() const { return count_; }
  void go_to(int64_t count);

 private:
  Philox gen_;
  PhiloxWords words_;
  int64_t count_ = 0;
};

// A pair of seeds for each round through a dataset: others each time, or always the same.
// Thread-safe.
class SeedGenerator : public Resource {
 public:
  SeedGenerator(Seeds seeds, bool others) : seeds_(seeds), others_(others), words_(seeds) {}
  Seeds next();
  int64_t drawn();
  void go_to(int64_t drawn);
  std::string debug_string() const override { return "seed generator"; }

 private:
  const Seeds seeds_;
  const bool others_;
  std::mutex mutex_;
  CountedWords words_;
};

}  // namespace emplace::data
