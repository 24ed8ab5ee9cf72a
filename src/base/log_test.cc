#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace emplace {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override {
    clear();
    set_log_level(LogLevel::kWarning);
  }
  static void clear() {
    unsetenv("EMPLACE_LOG_LEVEL");
    unsetenv("TF_CPP_MIN_LOG_LEVEL");
  }
  static LogLevel with(const char* name, const char* value) {
    setenv(name, value, 1);
    return log_level_from_environment();
  }
};

TEST_F(LogTest, LetsOnlyWarningsThroughByDefault) {
  EXPECT_EQ(log_level_from_environment(), LogLevel::kWarning);
  set_log_level(LogLevel::kWarning);
  testing::internal::CaptureStderr();
  log_info("quiet {}", 1);
  log_warning("loud {}", 2);
  log_error("louder {}", 3);
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out.find("quiet"), std::string::npos);
  EXPECT_NE(out.find("W emplace] loud 2\n"), std::string::npos) << out;
  EXPECT_NE(out.find("E emplace] louder 3\n"), std::string::npos) << out;
}

TEST_F(LogTest, WritesBracesInAMessageAsTheyAre) {
  testing::internal::CaptureStderr();
  log_message(LogLevel::kError, "node {{node a}} {}");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("node {{node a}} {}\n"), std::string::npos);
}

TEST_F(LogTest, OffWritesNothing) {
  set_log_level(LogLevel::kOff);
  testing::internal::CaptureStderr();
  log_error("nobody hears");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, TakesItsOwnVariableByName) {
  EXPECT_EQ(with("EMPLACE_LOG_LEVEL", "debug"), LogLevel::kDebug);
  EXPECT_EQ(with("EMPLACE_LOG_LEVEL", "off"), LogLevel::kOff);
}

TEST_F(LogTest, TakesTensorFlowsNumbers) {
  EXPECT_EQ(with("TF_CPP_MIN_LOG_LEVEL", "0"), LogLevel::kInfo);
  EXPECT_EQ(with("TF_CPP_MIN_LOG_LEVEL", "1"), LogLevel::kWarning);
  EXPECT_EQ(with("TF_CPP_MIN_LOG_LEVEL", "2"), LogLevel::kError);
  EXPECT_EQ(with("TF_CPP_MIN_LOG_LEVEL", "3"), LogLevel::kOff);
  EXPECT_EQ(with("TF_CPP_MIN_LOG_LEVEL", "x"), LogLevel::kWarning);
}

TEST_F(LogTest, ItsOwnVariableWinsOverTensorFlows) {
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", 1);
  EXPECT_EQ(with("EMPLACE_LOG_LEVEL", "info"), LogLevel::kInfo);
}

TEST_F(LogTest, AnUnknownLevelIsSaidOnceAndIgnored) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(with("EMPLACE_LOG_LEVEL", "chatty"), LogLevel::kWarning);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("EMPLACE_LOG_LEVEL='chatty'"),
            std::string::npos);
}

}  // namespace
}  // namespace emplace
