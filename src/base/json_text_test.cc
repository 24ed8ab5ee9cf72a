#include "base/json_text.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

TEST(JsonText, EscapesWhatJsonEscapes) {
  EXPECT_EQ(json_text("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_text("one\ntwo\x01"), R"("one\ntwo\u0001")");
  EXPECT_EQ(json_text("é"), "\"é\"");
}

}  // namespace
}  // namespace emplace
