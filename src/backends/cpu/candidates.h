#pragma once
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/philox.h"

namespace emplace::cpu {

// A generator's words as numbers.
class Words {
 public:
  explicit Words(const Philox& gen) : words_(gen) {}
  uint32_t next() { return words_(); }
  uint64_t next64();
  float unit_float();  // [0, 1), as unit
  double unit();
  uint64_t below(uint64_t n);    // n > 0
  uint32_t below32(uint32_t n);  // the same with another use of words

 private:
  PhiloxWords words_;
};

// Classes by weights that attributes or a file give; drawn in constant time (Walker's aliases).
class GivenWeights {
 public:
  explicit GivenWeights(const KernelInit& init);
  int64_t draw(Words& words) const;
  float probability(int64_t v) const;
  int64_t classes() const { return static_cast<int64_t>(weights_.size()); }
  int64_t possible() const { return possible_; }  // how many of them can be drawn

 private:
  void read_file(const KernelInit& init, const std::string& path);
  void take(float weight, int64_t word, const KernelInit& init);
  void make_aliases();

  std::vector<float> weights_, share_;
  std::vector<int> other_;
  float total_ = 0;
  int64_t possible_ = 0;
};

// Classes by how often they were labels, plus one; a sum tree that holds what differs from one.
// It belongs to the session, so that every plan with the node goes on with what was learned.
class LearnedWeights : public Resource {
 public:
  explicit LearnedWeights(int64_t range);
  std::mutex& mutex() { return mutex_; }  // to be held in every call below
  int64_t draw(Words& words) const;
  float probability(int64_t v) const;
  int64_t classes() const { return range_; }
  int64_t possible() const { return range_; }
  void learn(std::span<const int64_t> labels);
  std::string debug_string() const override { return "learned unigrams"; }

 private:
  std::mutex mutex_;
  const int64_t range_;
  int64_t total_;
  std::unordered_map<int64_t, int64_t> counts_, tree_;
};

std::shared_ptr<LearnedWeights> learned_weights_of(const KernelInit& init);

}  // namespace emplace::cpu
