#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace emplace {
namespace {

// Values of RFC 3720, appendix B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

TEST(Crc32c, PiecesMakeTheWhole) {
  const std::string text = "a text that is longer than eight bytes";
  for (size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(extend_crc32c(crc32c(text.substr(0, cut)), text.substr(cut)), crc32c(text));
}

TEST(Crc32c, MaskingMovesTheBits) {
  EXPECT_EQ(mask_crc(0), 0xa282ead8u);
  EXPECT_NE(mask_crc(crc32c("foo")), crc32c("foo"));
}

}  // namespace
}  // namespace emplace
