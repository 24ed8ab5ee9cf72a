#include "bench/sched/work.h"

#include <algorithm>
#include <chrono>

namespace emplace::bench {
namespace {

void spin_and_count(void* context, uint32_t node) {
  auto* counting = static_cast<CountingWork*>(context);
  CountingWork::spin(counting->spins());
  ++counting->words()[node];
}

using AddRows = void (*)(const float*, const float*, float*, uint32_t);

inline __attribute__((always_inline)) void add_rows_body(const float* left, const float* right,
                                                         float* __restrict out, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) out[i] = left[i] + right[i];
}

void add_rows_plain(const float* left, const float* right, float* out, uint32_t count) {
  add_rows_body(left, right, out, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_rows_avx2(const float* left, const float* right,
                                                   float* out, uint32_t count) {
  add_rows_body(left, right, out, count);
}
#endif

AddRows best_add_rows() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return add_rows_avx2;
#endif
  return add_rows_plain;
}

double spin_ns(uint32_t spins) {
  const auto start = std::chrono::steady_clock::now();
  CountingWork::spin(spins);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

}  // namespace

CountingWork::CountingWork(uint32_t nodes, uint32_t spins) : words_(nodes), spins_(spins) {}

Work CountingWork::work() {
  if (spins_ == 0) return {count_one, words_.data()};
  return {spin_and_count, this};
}

void CountingWork::reset() { std::ranges::fill(words_, 0); }

std::string CountingWork::check(uint64_t runs) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != static_cast<uint32_t>(runs)) {
      return "node " + std::to_string(i) + " ran " + std::to_string(words_[i]) + " times in " +
             std::to_string(runs) + " runs";
    }
  }
  return {};
}

uint32_t CountingWork::spins_for(double ns) {
  constexpr uint32_t kTrial = 100'000;
  double best = spin_ns(kTrial);
  for (int i = 0; i < 50; ++i) best = std::min(best, spin_ns(kTrial));
  return static_cast<uint32_t>(ns * kTrial / best);
}

AddWork::AddWork(uint32_t nodes, uint32_t floats) : floats_(floats), ones_(floats, 1.0f) {
  add_rows_ = best_add_rows();
  for (std::vector<float>& buffer : buffers_) buffer.assign(floats, 0.0f);
  for (uint32_t i = 0; i < nodes; ++i) {
    operands_.push_back({buffers_[i % 2].data(), ones_.data(), buffers_[(i + 1) % 2].data()});
  }
}

Work AddWork::work() { return {add, this}; }

void AddWork::reset() { std::ranges::fill(buffers_[0], 0.0f); }

// The chain reads what the run before left in buffer 0, so an even chain counts on and on. Floats
// count exactly up to 2^24 and stay there; a check is only meant for runs below that.
std::string AddWork::check(uint64_t runs) const {
  const float expected = static_cast<float>(runs * operands_.size());
  for (const float value : buffers_[operands_.size() % 2]) {
    if (value != expected) {
      return "sum is " + std::to_string(value) + ", expected " + std::to_string(expected);
    }
  }
  return {};
}

void AddWork::add(void* context, uint32_t node) {
  const auto* self = static_cast<const AddWork*>(context);
  const Operands& operands = self->operands_[node];
  if (self->floats_ == 1) {
    *operands.out = *operands.left + *operands.right;
    return;
  }
  self->add_rows_(operands.left, operands.right, operands.out, self->floats_);
}

}  // namespace emplace::bench
