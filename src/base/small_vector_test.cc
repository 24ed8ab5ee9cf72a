#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <string>

namespace emplace {
namespace {

using Words = SmallVector<std::string, 2>;

std::string word(int i) { return "a word too long to lie in the string itself " + std::to_string(i); }

Words words(int count) {
  Words w;
  for (int i = 0; i < count; ++i) w.push_back(word(i));
  return w;
}

class SmallVectorOfAnySize : public ::testing::TestWithParam<int> {};

TEST_P(SmallVectorOfAnySize, KeepsItsElementsWhenCopiedAndMoved) {
  const Words source = words(GetParam());
  ASSERT_EQ(source.size(), static_cast<size_t>(GetParam()));
  Words copy = source;
  EXPECT_EQ(copy, source);
  Words moved = std::move(copy);
  EXPECT_EQ(moved, source);
  EXPECT_TRUE(copy.empty());  // NOLINT: what is left is part of the contract
  for (int other : {0, 1, 2, 3, 9}) {
    Words target = words(other);
    target = source;
    EXPECT_EQ(target, source);
    target = words(other);
    target = std::move(moved);
    EXPECT_EQ(target, source);
    moved = std::move(target);
  }
}

TEST_P(SmallVectorOfAnySize, ResizesAndClears) {
  Words w = words(GetParam());
  w.resize(5);
  EXPECT_EQ(w.size(), 5u);
  for (int i = GetParam(); i < 5; ++i) EXPECT_EQ(w[static_cast<size_t>(i)], "");
  w.resize(1);
  EXPECT_EQ(w, std::vector<std::string>{GetParam() > 0 ? word(0) : ""});
  w.assign(3, word(7));
  EXPECT_EQ(w, (std::vector<std::string>{word(7), word(7), word(7)}));
  w.clear();
  EXPECT_TRUE(w.empty());
  w.push_back(word(1));
  EXPECT_EQ(w.back(), word(1));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SmallVectorOfAnySize, ::testing::Values(0, 1, 2, 3, 5));

TEST(SmallVector, TakesLists) {
  Words w = {word(1), word(2), word(3)};
  EXPECT_EQ(w, (std::vector<std::string>{word(1), word(2), word(3)}));
  w = std::vector<std::string>{word(4)};
  EXPECT_EQ(w, Words{word(4)});
  w = {};
  EXPECT_TRUE(w.empty());
}

}  // namespace
}  // namespace emplace
