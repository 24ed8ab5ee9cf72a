#include "op/window.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

using Ints = std::vector<int64_t>;

AttrList attrs_of(Ints strides, Ints dilations, const char* padding, Ints around = {},
                  const char* format = "NHWC") {
  AttrList a;
  set_attr(a, "strides", std::move(strides));
  set_attr(a, "dilations", std::move(dilations));
  set_attr(a, "padding", padding);
  set_attr(a, "explicit_paddings", std::move(around));
  set_attr(a, "data_format", format);
  return a;
}

TEST(Window, ValidWindowsStayInside) {
  const WindowAttrs w(attrs_of({1, 2, 1, 1}, {1, 1, 2, 1}, "VALID"), 2, "Conv2D");
  EXPECT_EQ(w.slide(0, 7, 3).out, 3);
  EXPECT_EQ(w.slide(1, 7, 3).out, 3);
  EXPECT_EQ(w.slide(1, 7, 3).at(1, 2), 5);
  EXPECT_THROW(w.slide(1, 4, 3), Error);
}

TEST(Window, SamePutsTheOddZeroBehind) {
  const WindowAttrs w(attrs_of({1, 2, 3, 1}, {1, 1, 1, 1}, "SAME"), 2, "Conv2D");
  const WindowDim rows = w.slide(0, 6, 3), columns = w.slide(1, 7, 2);
  EXPECT_EQ(rows.out, 3);
  EXPECT_EQ(rows.before, 0);
  EXPECT_EQ(rows.after, 1);
  EXPECT_EQ(columns.out, 3);
  EXPECT_EQ(columns.before + columns.after, 1);
}

TEST(Window, ExplicitPaddingIsTakenAsGiven) {
  const WindowAttrs w(
      attrs_of({1, 1, 1, 1}, {1, 1, 1, 1}, "EXPLICIT", {0, 0, 0, 0, 1, 2, 0, 1}, "NCHW"), 2, "C");
  EXPECT_EQ(w.channel_dim(), 1);
  EXPECT_EQ(w.slide(0, 4, 3).out, 5);
  EXPECT_EQ(w.slide(0, 4, 3).before, 1);
  EXPECT_EQ(w.slide(1, 4, 3).out, 3);
}

TEST(Window, UnknownSizesGiveUnknownOutputsWhereTheyMatter) {
  const WindowAttrs same(attrs_of({1, 2, 1, 1}, {1, 1, 1, 1}, "SAME"), 2, "Conv2D");
  const WindowAttrs valid(attrs_of({1, 2, 1, 1}, {1, 1, 1, 1}, "VALID"), 2, "Conv2D");
  EXPECT_EQ(same.out_size(0, 5, -1), 3);
  EXPECT_EQ(valid.out_size(0, 5, -1), -1);
  EXPECT_EQ(valid.out_size(0, -1, 3), -1);
}

TEST(Window, RefusesWhatCannotBe) {
  const Ints one = {1, 1, 1, 1};
  auto make = [](AttrList a) { WindowAttrs(a, 2, "Conv2D"); };
  EXPECT_THROW(make(attrs_of({1, 0, 1, 1}, one, "SAME")), Error);
  EXPECT_THROW(make(attrs_of({1, 1, 1}, one, "SAME")), Error);
  EXPECT_THROW(make(attrs_of(one, {1, 0, 1, 1}, "SAME")), Error);
  EXPECT_THROW(make(attrs_of(one, one, "SAME", {0, 0, 0, 0, 0, 0, 0, 0})), Error);
  EXPECT_THROW(make(attrs_of(one, one, "EXPLICIT", {0, 0, 1})), Error);
  EXPECT_THROW(make(attrs_of(one, one, "EXPLICIT", {0, 0, 1, -1, 0, 0, 0, 0})), Error);
  EXPECT_THROW(make(attrs_of(one, one, "EXPLICIT", {1, 0, 1, 1, 0, 0, 0, 0})), Error);
  EXPECT_THROW(make(attrs_of({1, int64_t{1} << 40, 1, 1}, one, "SAME")), Error);
  const WindowAttrs w(attrs_of(one, {1, INT32_MAX, 1, 1}, "VALID"), 2, "Conv2D");
  EXPECT_THROW(w.slide(0, 100, INT32_MAX), Error);
}

}  // namespace
}  // namespace emplace
