// What the nodes do in the scheduler benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sched/contender.h"

namespace emplace::bench {

// A workload: the call a node makes, and the proof afterwards that every node ran.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual Work work() = 0;
  virtual void reset() = 0;
  // Empty when the result is that of `runs` whole runs since `reset`, else what is wrong.
  virtual std::string check(uint64_t runs) const = 0;
};

// Node i adds 1 to the 32-bit word i, after `spins` steps of a loop that nothing can shorten.
class CountingWork final : public Workload {
 public:
  CountingWork(uint32_t nodes, uint32_t spins);

  Work work() override;
  void reset() override;
  std::string check(uint64_t runs) const override;

  // What a node without spins calls; the context is the array of words.
  static void count_one(void* words, uint32_t node) { ++static_cast<uint32_t*>(words)[node]; }

  uint32_t* words() { return words_.data(); }
  uint32_t spins() const { return spins_; }

  // How many spins take `ns` on this machine.
  static uint32_t spins_for(double ns);
  static void spin(uint32_t spins) {
    uint64_t x = 3;
    for (uint32_t i = 0; i < spins; ++i) asm volatile("imul %0, %0" : "+r"(x));
  }

 private:
  std::vector<uint32_t> words_;
  uint32_t spins_;
};

// Node i of a chain adds a constant row of ones to the row its predecessor left: two buffers take
// turns, as a memory plan would have it.
class AddWork final : public Workload {
 public:
  explicit AddWork(uint32_t nodes, uint32_t floats);

  Work work() override;
  void reset() override;
  std::string check(uint64_t runs) const override;

 private:
  static void add(void* context, uint32_t node);

  struct Operands {
    const float* left;
    const float* right;
    float* out;
  };

  uint32_t floats_;
  void (*add_rows_)(const float*, const float*, float*, uint32_t);
  std::vector<float> ones_;
  std::vector<float> buffers_[2];
  std::vector<Operands> operands_;
};

}  // namespace emplace::bench
