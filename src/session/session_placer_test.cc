#include "session/session_placer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "emplace/eager.h"

namespace emplace {
namespace {

std::string refusal(SessionOptions options) {
  try {
    Graph graph;
    Session session(graph, std::move(options));
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(SessionPlacer, AnUnknownNameIsAnErrorThatListsTheKnown) {
  SessionOptions options;
  options.placer = "clever";
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("There is no placer 'clever': known are"));
  EXPECT_THROW(Eager{options}, Error);
}

TEST(SessionPlacer, TheEnvironmentNamesItWhereTheOptionsDoNot) {
  setenv("EMPLACE_PLACER", "wrong", 1);
  EXPECT_THAT(refusal({}), ::testing::HasSubstr("'wrong'"));
  SessionOptions options;
  options.placer = "simple";
  EXPECT_EQ(refusal(options), "none");
  unsetenv("EMPLACE_PLACER");
  EXPECT_EQ(refusal({}), "none");
}

TEST(SessionPlacer, RefusesNegativeLimits) {
  SessionOptions options;
  options.placer_evaluations = -1;
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("must not be negative"));
}

}  // namespace
}  // namespace emplace
