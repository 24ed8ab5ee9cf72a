#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

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

// A generator's words one by one.
class PhiloxWords {
 public:
  explicit PhiloxWords(const Philox& gen) : gen_(gen) {}
  uint32_t operator()() {
    if (used_ == block_.size()) block_ = gen_(), used_ = 0;
    return block_[used_++];
  }

 private:
  Philox gen_;
  Philox::Block block_{};
  size_t used_ = block_.size();
};

// A stateful operation moves on by so many blocks for each element of its output.
inline constexpr uint64_t kPhiloxReservedPerOutput = 256;

inline Philox Philox::stateless(uint64_t seed0, uint64_t seed1) {
  const Philox scrambler = keyed(uint64_t{0x02461e29} << 32 | 0x3ec8f720, seed0, seed1);
  const Block mixed = Philox(scrambler)();
  return Philox(Block{0, 0, mixed[2], mixed[3]}, Key{mixed[0], mixed[1]});
}

inline Philox Philox::keyed(uint64_t key, uint64_t counter0, uint64_t counter1) {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  return Philox(Block{low(counter0), high(counter0), low(counter1), high(counter1)},
                Key{low(key), high(key)});
}

inline Philox::Block Philox::operator()() {
  Block c = counter_;
  Key k = key_;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  skip(1);
  return c;
}

inline void Philox::skip(uint64_t blocks) {
  const uint64_t low = counter(0) + blocks;
  const uint64_t high = counter(1) + (low < blocks);
  *this = keyed(key(), low, high);
}

}  // namespace emplace
