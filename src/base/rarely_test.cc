#include "base/rarely.h"

#include <gtest/gtest.h>

#include <utility>

namespace emplace {
namespace {

struct Extra {
  int number = 7;
};

TEST(RarelyTest, ReadsAsTheDefaultUntilItIsSet) {
  Rarely<Extra> r;
  EXPECT_EQ(r->number, 7);
  r.set().number = 1;
  EXPECT_EQ(r->number, 1);
}

TEST(RarelyTest, ACopyIsApart) {
  Rarely<Extra> a, b, none;
  a.set().number = 1;
  b = a;
  b.set().number = 2;
  EXPECT_EQ(a->number, 1);
  EXPECT_EQ(b->number, 2);
  b = none;
  EXPECT_EQ(b->number, 7);
  const Rarely<Extra> moved = std::move(a);
  EXPECT_EQ(moved->number, 1);
}

}  // namespace
}  // namespace emplace
