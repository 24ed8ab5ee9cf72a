#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

TEST(ByteSize, ReadsNumbersWithUnits) {
  EXPECT_EQ(parse_byte_size("4096"), 4096);
  EXPECT_EQ(parse_byte_size("64MiB"), 64 << 20);
  EXPECT_EQ(parse_byte_size("2 k"), 2048);
  EXPECT_EQ(parse_byte_size("1.5GB"), 1'500'000'000);
  EXPECT_EQ(parse_byte_size("0"), 0);
}

TEST(ByteSize, KnowsNothingElse) {
  for (const char* text : {"", "MiB", "-1", "1 apple", "1XB", "1KiBs", "nan", "inf", "1e30", "9999999TiB"})
    EXPECT_EQ(parse_byte_size(text), std::nullopt) << text;
}

TEST(ByteSize, IsShownWithTheUnitThatSuits) {
  EXPECT_EQ(byte_size_text(1023), "1023 bytes");
  EXPECT_EQ(byte_size_text(1536), "1.5 KiB");
  EXPECT_EQ(byte_size_text(0x1p62), "4096.0 PiB");
}

}  // namespace
}  // namespace emplace
