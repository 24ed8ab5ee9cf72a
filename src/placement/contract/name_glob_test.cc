#include "placement/contract/name_glob.h"

#include <gtest/gtest.h>

namespace emplace::placement {
namespace {

TEST(NameGlob, AStarStaysWithinALevel) {
  EXPECT_TRUE(name_matches("tower_*/MatMul", "tower_12/MatMul"));
  EXPECT_TRUE(name_matches("tower_*", "tower_"));
  EXPECT_FALSE(name_matches("tower_*", "tower_0/MatMul"));
  EXPECT_FALSE(name_matches("*", "a/b"));
}

TEST(NameGlob, TwoStarsGoAcrossLevels) {
  EXPECT_TRUE(name_matches("tower_*/**", "tower_0/layer/MatMul"));
  EXPECT_FALSE(name_matches("tower_*/**", "tower_0"));
  EXPECT_FALSE(name_matches("tower_*/**", "x/tower_0/a"));
  EXPECT_TRUE(name_matches("**", "a/b/c"));
  EXPECT_TRUE(name_matches("**", ""));
  EXPECT_TRUE(name_matches("a**c", "a/b/c"));
}

TEST(NameGlob, LeadingTwoStarsMayBeNothing) {
  EXPECT_TRUE(name_matches("**/weights", "weights"));
  EXPECT_TRUE(name_matches("**/weights", "a/b/weights"));
  EXPECT_FALSE(name_matches("**/weights", "a/my_weights"));
  EXPECT_TRUE(name_matches("a/**/w", "a/w"));
  EXPECT_TRUE(name_matches("a/**/w", "a/b/c/w"));
  EXPECT_FALSE(name_matches("a/**/w", "aw"));
}

TEST(NameGlob, OtherCharactersStandForThemselves) {
  EXPECT_TRUE(name_matches("a.b[0]", "a.b[0]"));
  EXPECT_FALSE(name_matches("a.b", "axb"));
  EXPECT_TRUE(name_matches("layer_?", "layer_1"));
  EXPECT_FALSE(name_matches("layer_?", "layer_10"));
  EXPECT_FALSE(name_matches("a?b", "a/b"));
  EXPECT_FALSE(name_matches("", "a"));
}

TEST(NameGlob, TakesNoLongerForManyStars) {
  EXPECT_FALSE(name_matches(std::string(60, '*') + "b", std::string(2000, 'a')));
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(name_matches(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace emplace::placement
