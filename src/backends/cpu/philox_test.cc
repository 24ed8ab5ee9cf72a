#include "backends/cpu/philox.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "base/source_dir_testutil.h"

namespace emplace {
namespace {

// A line of tests/golden/random/cases.txt; make.py there tells the format.
struct Case {
  std::string kind, dtype;
  int64_t seed, seed2, call, low, high;
  size_t count;
  std::string bits;
};

std::vector<Case> golden_cases() {
  std::ifstream in(source_dir() + "/tests/golden/random/cases.txt");
  std::vector<Case> cases;
  Case c;
  while (in >> c.kind >> c.dtype >> c.seed >> c.seed2 >> c.call >> c.low >> c.high >> c.count >>
         c.bits)
    cases.push_back(c);
  return cases;
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string s;
  for (const unsigned char b : bytes) {
    s += "0123456789abcdef"[b >> 4];
    s += "0123456789abcdef"[b & 15];
  }
  return s;
}

template <class T>
std::string bits_of(const std::vector<T>& values) {
  const std::span bytes(reinterpret_cast<const unsigned char*>(values.data()),
                        values.size() * sizeof(T));
  if (bytes.size() <= 64) return hex(bytes);
  uint64_t h = 0xcbf29ce484222325;
  for (const unsigned char b : bytes) h = (h ^ b) * 0x100000001b3;
  char text[20];
  std::snprintf(text, sizeof text, "#%016llx", static_cast<unsigned long long>(h));
  return text;
}

Philox generator(const Case& c) {
  const auto seed = static_cast<uint64_t>(c.seed), seed2 = static_cast<uint64_t>(c.seed2);
  if (c.kind.ends_with("-stateless")) return Philox::stateless(seed, seed2);
  if (c.kind.ends_with("-keyed")) return Philox::keyed(seed, seed2, 3);
  return Philox(seed, seed2)
      .skipped(static_cast<uint64_t>(c.call) * c.count * kPhiloxReservedPerOutput);
}

template <class T>
std::string real_bits(const Case& c) {
  std::vector<T> out(c.count);
  if (c.kind.starts_with("uniform")) philox_uniform<T>(generator(c), out);
  if (c.kind.starts_with("normal")) philox_normal<T>(generator(c), out);
  if (c.kind.starts_with("truncated")) philox_truncated_normal<T>(generator(c), out);
  return bits_of(out);
}

template <class T>
std::string int_bits(const Case& c) {
  std::vector<T> out(c.count);
  if (c.kind.starts_with("full")) {
    philox_full_int<T>(generator(c), out);
  } else {
    philox_uniform_int<T>(generator(c), static_cast<T>(c.low), static_cast<T>(c.high), out);
  }
  return bits_of(out);
}

std::string key_bits(const Case& c) {
  const Philox p = Philox::stateless(static_cast<uint64_t>(c.seed), static_cast<uint64_t>(c.seed2));
  return bits_of(std::vector<uint64_t>{p.key(), p.counter(0), p.counter(1)});
}

std::string our_bits(const Case& c) {
  if (c.kind == "keys") return key_bits(c);
  if (c.dtype == "float") return real_bits<float>(c);
  if (c.dtype == "double") return real_bits<double>(c);
  if (c.dtype == "half") return real_bits<Half>(c);
  if (c.dtype == "bfloat16") return real_bits<Bfloat16>(c);
  if (c.dtype == "int32") return int_bits<int32_t>(c);
  if (c.dtype == "int64") return int_bits<int64_t>(c);
  if (c.dtype == "uint32") return int_bits<uint32_t>(c);
  if (c.dtype == "uint64") return int_bits<uint64_t>(c);
  return "unknown dtype " + c.dtype;
}

TEST(PhiloxTest, GivesTensorFlowsBits) {
  const std::vector<Case> cases = golden_cases();
  ASSERT_GT(cases.size(), 2000u);
  int wrong = 0;
  for (const Case& c : cases) {
    const std::string bits = our_bits(c);
    if (bits == c.bits) continue;
    if (++wrong <= 20)
      ADD_FAILURE() << c.kind << " " << c.dtype << " seeds " << c.seed << " " << c.seed2 << " call "
                    << c.call << " count " << c.count << "\n TensorFlow " << c.bits << "\n ours "
                    << bits;
  }
  EXPECT_EQ(wrong, 0) << "of " << cases.size();
}

// The published test vectors of Philox 4x32-10.
TEST(PhiloxTest, GivesThePublishedVectors) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0})(),
            (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff})(),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(PhiloxTest, SkippingIsCalling) {
  Philox called = Philox::keyed(7, ~uint64_t{0} - 2, ~uint64_t{0});  // carries through all words
  const Philox start = called;
  for (uint64_t i = 0; i < 6; ++i) {
    Philox skipped = start.skipped(i);
    EXPECT_EQ(skipped.counter(0), called.counter(0));
    EXPECT_EQ(skipped.counter(1), called.counter(1));
    EXPECT_EQ(skipped(), called());
  }
}

TEST(PhiloxTest, FillingInPartsGivesTheSameBits) {
  const Philox gen(3, 4);
  std::vector<double> whole(1001), parts(1001);
  philox_truncated_normal<double>(gen, whole);
  constexpr int64_t kGroups = 100;
  for (int64_t first = 0; first * kPhiloxGroup<double> < 1001; first += kGroups) {
    const auto begin = static_cast<size_t>(first * kPhiloxGroup<double>);
    const size_t n = std::min<size_t>(kGroups * kPhiloxGroup<double>, 1001 - begin);
    philox_truncated_normal<double>(
        gen.skipped(static_cast<uint64_t>(first) * kPhiloxTruncatedBlocks<double>),
        std::span(parts).subspan(begin, n));
  }
  EXPECT_EQ(whole, parts);
}

}  // namespace
}  // namespace emplace
