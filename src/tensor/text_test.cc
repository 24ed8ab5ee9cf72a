#include "tensor/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace emplace {
namespace {

TEST(TextTest, NumbersTakeTheShorterFormThatReadsBack) {
  EXPECT_EQ(number_text(1.0f), "1");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(1.0f / 3), "0.333333343");
  EXPECT_EQ(number_text(1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(number_text(123456789.0f), "123456792");
  EXPECT_EQ(number_text(1e20f), "1e+20");
  EXPECT_EQ(number_text(1e-7f), "1e-07");
  EXPECT_EQ(number_text(-0.0f), "-0");
}

TEST(TextTest, NonFiniteNumbersHaveNames) {
  EXPECT_EQ(number_text(-INFINITY), "-inf");
  EXPECT_EQ(number_text(std::nanf("")), "nan");
  EXPECT_EQ(number_text(-std::nan("")), "-nan");
}

TEST(TextTest, EscapesAsInC) {
  EXPECT_EQ(c_escaped("a\n\t\r\"'\\"), R"(a\n\t\r\"\'\\)");
  EXPECT_EQ(c_escaped(std::string("\0\x7f\xc3", 3)), R"(\000\177\303)");
}

TEST(TextTest, BytesAreQuotedAsInPython) {
  EXPECT_EQ(python_bytes("it's"), R"(b"it's")");
  EXPECT_EQ(python_bytes(R"(it's "it")"), R"(b'it\'s "it"')");
  EXPECT_EQ(python_bytes("\xff\n"), R"(b'\xff\n')");
}

}  // namespace
}  // namespace emplace
