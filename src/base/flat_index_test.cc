#include "base/flat_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace emplace {
namespace {

TEST(FlatIndex, GivesEachKeyItsNumber) {
  FlatIndex index;
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(i * i % 377);
    const auto same = [&](int64_t n) { return keys[static_cast<size_t>(n)] == key; };
    const auto fresh = static_cast<int64_t>(keys.size());
    if (index.find_or_insert(hash_of_bytes(key), fresh, same) == fresh) keys.push_back(key);
  }
  EXPECT_EQ(index.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(index.find(hash_of_bytes(keys[i]), [&](int64_t n) { return keys[static_cast<size_t>(n)] == keys[i]; }),
              static_cast<int64_t>(i));
  EXPECT_EQ(index.find(hash_of_bytes("none"), [](int64_t) { return true; }), -1);
}

TEST(FlatIndex, IsAMapUnderInsertsErasesAndRenumbering) {
  std::mt19937 random(7);
  FlatIndex index;
  std::map<uint64_t, int64_t> expected;
  std::map<int64_t, uint64_t> key_of;
  // All keys share few hashes, so that runs of slots wrap around and are closed up again.
  const auto hash = [](uint64_t key) { return key % 13 ? key % 5 : ~uint64_t{0}; };
  int64_t next = 0;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t key = random() % 60;
    const auto same = [&](int64_t n) { return key_of.at(n) == key; };
    const auto it = expected.find(key);
    ASSERT_EQ(index.find(hash(key), same), it == expected.end() ? -1 : it->second);
    if (it == expected.end()) {
      ASSERT_EQ(index.find_or_insert(hash(key), next, same), next);
      expected[key] = next;
      key_of[next++] = key;
    } else if (random() % 2) {
      index.erase(hash(key), it->second);
      key_of.erase(it->second);
      expected.erase(it);
    } else {
      index.renumber(hash(key), it->second, next);
      key_of.erase(it->second);
      it->second = next;
      key_of[next++] = key;
    }
    ASSERT_EQ(index.size(), expected.size());
  }
}

TEST(FlatIndex, HashesOfNeighboursAndOfLongBytesDiffer) {
  EXPECT_NE(mixed_bits(1), mixed_bits(2));
  EXPECT_NE(hash_of_bytes(""), hash_of_bytes(std::string(1, '\0')));
  EXPECT_NE(hash_of_bytes("12345678a"), hash_of_bytes("12345678b"));
  EXPECT_NE(hash_of_bytes("a2345678b"), hash_of_bytes("b2345678a"));
}

}  // namespace
}  // namespace emplace
