#include "format/inflate.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

// "hello hello hello" as Python's zlib and gzip write it.
const std::string kZlib("\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00\x3a\x2e\x06\x7d", 16);

Code failure(std::string_view bytes, std::string_view type) {
  try {
    unpack(bytes, type);
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

TEST(Inflate, GivesBackWhatWasPacked) {
  EXPECT_EQ(unpack("as it is", ""), "as it is");
  if (failure("", "ZLIB") == Code::kUnimplemented) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(unpack(kZlib, "ZLIB"), "hello hello hello");
}

TEST(Inflate, RefusesWhatIsNotPackedOrCutShort) {
  EXPECT_EQ(failure("x", "LZMA"), Code::kInvalidArgument);
  if (failure("", "ZLIB") == Code::kUnimplemented) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(failure("no such thing", "ZLIB"), Code::kDataLoss);
  EXPECT_EQ(failure(kZlib.substr(0, 9), "ZLIB"), Code::kDataLoss);
  EXPECT_EQ(failure("", "GZIP"), Code::kDataLoss);
}

}  // namespace
}  // namespace emplace
