#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "emplace/dtype.h"

namespace emplace {

// The Philox 4x32 generator with ten rounds: a keyed permutation of a 128-bit counter, four
// words a step. Seeded and consumed as TensorFlow does, so that the streams are the same bits.
// A value: copy it to remember a place in the stream.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;

  Philox(Block counter, Key key) : counter_(counter), key_(key) {}
  // An operation's `seed` and `seed2`; the caller has replaced two zeros by random ones.
  Philox(uint64_t seed, uint64_t seed2)
      : counter_{0, 0, static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)},
        key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}
  // The two seeds of a stateless operation, which are scrambled first.
  static Philox stateless(uint64_t seed0, uint64_t seed1);
  // Key and counter as the V2 stateless operations pass them in tensors of uint64.
  static Philox keyed(uint64_t key, uint64_t counter0, uint64_t counter1);

  uint64_t key() const { return key_[0] | uint64_t{key_[1]} << 32; }
  uint64_t counter(int half) const {  // 0: low, 1: high
    return counter_[2 * half] | uint64_t{counter_[2 * half + 1]} << 32;
  }

  Block operator()();          // the next four words
  void skip(uint64_t blocks);  // as if called so often
  Philox skipped(uint64_t blocks) const {
    Philox p = *this;
    p.skip(blocks);
    return p;
  }

 private:
  Block counter_;
  Key key_;
};

// A stateful operation moves on by so many blocks for each element of its output.
inline constexpr uint64_t kPhiloxReservedPerOutput = 256;

// Output is made in groups of so many elements, each from the same number of blocks. To fill in
// parallel cut the output at multiples of the group, and begin at
// `gen.skipped(first_group * blocks)`.
template <class T>
inline constexpr int64_t kPhiloxGroup = sizeof(T) == 8 ? 2 : 4;
inline constexpr uint64_t kPhiloxBlocks = 1;
template <class T>
inline constexpr uint64_t kPhiloxTruncatedBlocks = kPhiloxGroup<T>* kPhiloxReservedPerOutput / 4;

// [0, 1): float, double, Half, Bfloat16.
template <class T>
void philox_uniform(Philox gen, std::span<T> out);
// [low, high), low < high: int32_t, int64_t, uint32_t, uint64_t.
template <class T>
void philox_uniform_int(Philox gen, T low, T high, std::span<T> out);
// Every value equally likely: int32_t, int64_t, uint32_t, uint64_t.
template <class T>
void philox_full_int(Philox gen, std::span<T> out);
// Mean 0, deviation 1: float, double, Half, Bfloat16.
template <class T>
void philox_normal(Philox gen, std::span<T> out);
// The same without what lies two deviations off or further.
template <class T>
void philox_truncated_normal(Philox gen, std::span<T> out);

}  // namespace emplace
