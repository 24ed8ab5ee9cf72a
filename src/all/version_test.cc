#include <emplace/export.h>

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace emplace {
namespace {

TEST(Version, IsMajorMinorPatch) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex(R"(\d+\.\d+\.\d+)")));
}

}  // namespace
}  // namespace emplace
