#include <gtest/gtest.h>

#include "emplace/ops.h"

namespace emplace {
namespace {

class Builders : public ::testing::Test {
 protected:
  template <class F>
  static void refused(F f, std::string_view part) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
    }
  }

  Graph graph;
  Scope in_graph = graph.as_default();
  Output one = constant(1.f);
  Output none;
};

// Gradients are such where nothing connects.
TEST_F(Builders, AnEmptyOutputIsRefused) {
  const std::string_view null = "node is null";
  refused([&] { one + none; }, null);
  refused([&] { none + one; }, null);
  refused([&] { -none; }, null);
  refused([&] { identity(none); }, null);
  refused([&] { matmul(none, one); }, null);
  refused([&] { assign(none, one); }, null);
  refused([&] { reduce_sum(none, {0}); }, null);
  refused([&] { op("Neg", {none}); }, "An input of 'Neg': node is null");
  refused([&] { add_n(std::vector<Output>{none, none}); }, null);
  refused([&] { group(std::vector<Node*>{nullptr}); }, "Control input is null");
}

TEST_F(Builders, TheFirstInputThatIsOneTellsTheGraph) {
  Graph other;
  const Scope in_other = other.as_default();
  refused([&] { none + one; }, "An input of 'AddV2': node is null");
  EXPECT_EQ(&(one + one).graph(), &graph);
}

}  // namespace
}  // namespace emplace
