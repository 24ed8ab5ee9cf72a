#include "emplace/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "emplace/error.h"

namespace emplace {
namespace {

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "no error";
}

std::vector<int64_t> sizes_up_to(int rank) {
  std::vector<int64_t> d(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) d[static_cast<size_t>(i)] = i + 1;
  return d;
}

TEST(ShapeTest, PrintsAsTensorFlowDoes) {
  EXPECT_EQ(Shape().str(), "[]");
  EXPECT_EQ((Shape{2, 3}).str(), "[2,3]");
  EXPECT_EQ((Shape{-1, 784}).str(), "[?,784]");
  EXPECT_EQ(Shape::unknown().str(), "<unknown>");
}

TEST(ShapeTest, PrintsAsPythonTuple) {
  EXPECT_EQ(Shape().tuple_str(), "()");
  EXPECT_EQ((Shape{3}).tuple_str(), "(3,)");
  EXPECT_EQ((Shape{-1, 784}).tuple_str(), "(None, 784)");
  EXPECT_EQ(Shape::unknown().tuple_str(), "<unknown>");
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).num_elements(), 24);
  EXPECT_EQ((Shape{2, 0}).num_elements(), 0);
  EXPECT_EQ((Shape{0, -1}).num_elements(), -1);
  EXPECT_EQ(Shape::unknown().num_elements(), -1);
}

TEST(ShapeTest, CopiesAndMovesAtEveryRank) {
  for (int rank = 0; rank <= 10; ++rank) {
    const std::vector<int64_t> dims = sizes_up_to(rank);
    const Shape original(dims);
    for (int other = 0; other <= 10; ++other) {
      Shape copy(sizes_up_to(other));
      copy = original;
      EXPECT_EQ(copy, original);
      Shape moved(sizes_up_to(other));
      moved = std::move(copy);
      EXPECT_EQ(moved, original);
    }
    Shape copy(original);
    const Shape moved(std::move(copy));
    EXPECT_EQ(std::vector(moved.begin(), moved.end()), dims);
  }
}

TEST(ShapeTest, AssigningToItselfChangesNothing) {
  Shape s(sizes_up_to(9));
  Shape& same = s;
  s = same;
  EXPECT_EQ(s, Shape(sizes_up_to(9)));
  s = std::move(same);
  EXPECT_EQ(s, Shape(sizes_up_to(9)));
}

TEST(ShapeTest, GrowsAndShrinksAcrossTheInlineLimit) {
  Shape s;
  for (int i = 1; i <= 12; ++i) {
    s.push_back(i);
    EXPECT_EQ(s, Shape(sizes_up_to(i)));
  }
  s.insert(0, 0);
  EXPECT_EQ(s.dim(0), 0);
  EXPECT_EQ(s.dim(12), 12);
  s.erase(0);
  for (int i = 11; i >= 0; --i) {
    s.erase(i);
    EXPECT_EQ(s, Shape(sizes_up_to(i)));
  }
}

TEST(ShapeTest, InsertsAndErasesInTheMiddle) {
  Shape s{1, 3};
  s.insert(1, 2);
  EXPECT_EQ(s, (Shape{1, 2, 3}));
  s.erase(0);
  EXPECT_EQ(s, (Shape{2, 3}));
}

TEST(ShapeTest, UnknownRankStaysUnknown) {
  Shape s = Shape::unknown();
  s.push_back(3);
  EXPECT_FALSE(s.has_rank());
  EXPECT_EQ(s.rank(), -1);
  EXPECT_TRUE(s.dims().empty());
  EXPECT_EQ(Shape(s), Shape::unknown());
  EXPECT_FALSE(s == Shape());
  EXPECT_EQ(Shape::unknown_dims(2).str(), "[?,?]");
}

TEST(ShapeTest, RefusesSizesBelowUnknownAndTooManyDimensions) {
  EXPECT_EQ(error_of([] { Shape{-2}; }), "Dimension -2 must be >= 0");
  EXPECT_NE(error_of([] { Shape(sizes_up_to(255)); }).find("Too many dimensions"), std::string::npos);
  Shape most(sizes_up_to(254));
  EXPECT_NE(error_of([&] { most.push_back(1); }), "no error");
  EXPECT_EQ(most.rank(), 254);
}

TEST(ShapeTest, MergesWhatBothSay) {
  EXPECT_EQ((Shape{-1, 3}).merged_with({2, -1}), (Shape{2, 3}));
  EXPECT_EQ(Shape::unknown().merged_with({2}), (Shape{2}));
  EXPECT_EQ((Shape{2}).merged_with(Shape::unknown()), (Shape{2}));
}

TEST(ShapeTest, MergingContradictionsFailsInTensorFlowsWords) {
  EXPECT_EQ(error_of([] {
              (Shape{2}).merged_with({2, 3});
            }),
            "Shapes must be equal rank, but are 1 and 2");
  EXPECT_EQ(error_of([] { (Shape{2}).merged_with({3}); }),
            "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2] and [3].");
}

TEST(ShapeTest, CompatibleWhenATensorCouldHaveBoth) {
  EXPECT_TRUE((Shape{-1, 3}).compatible_with({2, 3}));
  EXPECT_TRUE(Shape::unknown().compatible_with({2, 3}));
  EXPECT_FALSE((Shape{2}).compatible_with({2, 1}));
  EXPECT_FALSE((Shape{2}).compatible_with({3}));
}

TEST(ShapeTest, CheckedElementsRefusesNegativeAndOverflow) {
  const auto count = [](std::vector<int64_t> d) { return checked_elements(d); };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({int64_t{1} << 40, int64_t{1} << 40, 0}), 0);
  EXPECT_EQ(error_of([&] { count({2, -1}); }), "Dimension -1 must be >= 0");
  EXPECT_EQ(error_of([&] { count({0, -1}); }), "Dimension -1 must be >= 0");
  EXPECT_EQ(error_of([&] {
              count({int64_t{1} << 40, int64_t{1} << 40});
            }),
            "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements");
}

TEST(ShapeTest, DimensionsAreAddedAndTakenOnlyWhereThereAreSome) {
  for (const Shape& s : {Shape{1, 2}, Shape{1, 2, 3, 4, 5, 6, 7}}) {
    for (const int at : {-1, s.rank() + 1}) EXPECT_THROW(Shape(s).insert(at, 3), Error) << at;
    for (const int at : {-1, s.rank()}) EXPECT_THROW(Shape(s).erase(at), Error) << at;
  }
}

}  // namespace
}  // namespace emplace
