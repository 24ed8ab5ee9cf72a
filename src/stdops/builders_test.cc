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

TEST_F(Builders, ANodeKnowsTheLineThatBuildsIt) {
  const auto line = [](int number) { return std::string(__FILE__) + ":" + std::to_string(number); };
  const Output outputs[] = {op("Neg", {one}), constant(2.f), constant({1, 2}, {2}), one + one, -one,
                            placeholder(DType::kFloat), matmul(constant({1.f}, {1, 1}),
                                                               constant({1.f}, {1, 1}))};
  const int first = __LINE__ - 3;
  for (const Output& o : outputs) {
    const int at = std::stoi(o.node->source().substr(o.node->source().rfind(':') + 1));
    EXPECT_EQ(o.node->source(), line(at));
    EXPECT_TRUE(at >= first && at <= first + 2) << o.name() << at;
  }
  const VariableNodes v = variable(Tensor::scalar(1.f));
  EXPECT_EQ(v.initializer->source(), line(__LINE__ - 1));
  EXPECT_EQ(v.value.node->source(), v.ref.node->source());
  EXPECT_EQ(no_op()->source(), line(__LINE__));
  try {
    one + constant(std::string("s"));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.source(), line(__LINE__ - 3));
  }
}

}  // namespace
}  // namespace emplace
