#include "graph/source_line.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

using Where = std::source_location;

std::string line(int number) { return std::string(__FILE__) + ":" + std::to_string(number); }

TEST(SourceLine, IsFileAndLine) {
  EXPECT_EQ(source_line(Where::current()), line(__LINE__));
  EXPECT_EQ(source_line(Where{}), "");
}

TEST(SourceLine, TheOutermostScopeCounts) {
  const Where outer = Where::current(), none;
  {
    const SourceScope in_outer(outer);
    {
      const SourceScope in_none(none);
      EXPECT_EQ(source_line(Where::current()), line(static_cast<int>(outer.line())));
    }
    EXPECT_EQ(source_line(Where::current()), line(static_cast<int>(outer.line())));
  }
  EXPECT_EQ(source_line(Where::current()), line(__LINE__));
}

}  // namespace
}  // namespace emplace
