#include "op/einsum.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

EinsumLabels labels(const char* equation, std::vector<Shape> shapes) {
  return label_einsum(parse_einsum(equation), shapes);
}

TEST(Einsum, GivesDimensionsOfAnEllipsisLabelsFromTheEnd) {
  const auto l = labels("...ij,...jk->...ik", {Shape{5, 2, 3}, Shape{4, 1, 3, 7}});
  EXPECT_EQ(l.inputs[0], (std::vector<int>{-1, 'i', 'j'}));
  EXPECT_EQ(l.inputs[1], (std::vector<int>{-2, -1, 'j', 'k'}));
  EXPECT_EQ(l.output, (std::vector<int>{-2, -1, 'i', 'k'}));
  EXPECT_EQ(l.sizes.at(-1), 5);
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  EXPECT_THROW(parse_einsum("ij,jk"), Error);
  EXPECT_THROW(parse_einsum("a,b,c->"), Error);
  EXPECT_THROW(parse_einsum("i..->i"), Error);
  EXPECT_THROW(labels("ij->i", {Shape{2}}), Error);
  EXPECT_THROW(labels("ii->i", {Shape{2, 3}}), Error);
  EXPECT_THROW(labels("...->", {Shape{2}}), Error);
  EXPECT_THROW(labels("i,i->", {Shape{2}}), Error);
}

TEST(Einsum, KnowsOfASizeWhatAnyInputSays) {
  EXPECT_EQ(labels("ij,jk->ik", {Shape{2, -1}, Shape{3, -1}}).sizes.at('j'), 3);
}

}  // namespace
}  // namespace emplace
