#include "placement/op_class.h"

#include "placement/context.h"
#include "placement/placement_testutil.h"

namespace emplace::placement {
namespace {

using placement_test::add_node;
using placement_test::fake_devices;
using placement_test::FakeKernels;
using placement_test::test_ops;

class OpClassing : public ::testing::Test {
 protected:
  int find(std::string_view op, std::vector<Output> inputs = {}, AttrList attrs = {}) {
    const std::string name = "n" + std::to_string(graph.nodes().size());
    return context.ops.find(*add_node(graph, op, name, std::move(inputs), "", std::move(attrs)));
  }
  Graph graph{test_ops()};
  FakeKernels kernels;
  Context context{fake_devices(1), kernels, {}};
};

TEST_F(OpClassing, IsByOpAndTypeAttributes) {
  const int floats = find("Placeholder", {}, {{"dtype", DType::kFloat}});
  EXPECT_EQ(floats, find("Placeholder", {}, {{"dtype", DType::kFloat}}));
  EXPECT_NE(floats, find("Placeholder", {}, {{"dtype", DType::kInt32}}));
  EXPECT_EQ(kernels.questions(), 2);
}

TEST_F(OpClassing, IsByTheKernelLabelToo) {
  EXPECT_NE(find("NoOp"), find("NoOp", {}, {{"_kernel", "special"}}));
}

TEST_F(OpClassing, KnowsWhatTheRulesTalkAbout) {
  Node* var = add_node(graph, "TestVariable", "var");
  Node* in = add_node(graph, "TestInput", "in");
  EXPECT_TRUE(context.ops[find("TestAssign", {var->output(), in->output()})].has_ref_inputs);
  EXPECT_TRUE(context.ops[find("Shape", {in->output()})].metadata);
  EXPECT_TRUE(context.ops[find("Identity", {in->output()})].identity);
  EXPECT_TRUE(context.ops[find("IdentityN", {in->output()})].exempt);
  EXPECT_FALSE(context.ops[find("Identity", {in->output()})].exempt);
}

TEST_F(OpClassing, KnowsListsWhoseElementsLiveOnTheHost) {
  using Elements = OpClass::Elements;
  const auto elements = [&](DType t) {
    return context.ops[find("MakeList", {}, {{"element_dtype", t}})].elements;
  };
  EXPECT_EQ(elements(DType::kString), Elements::kHost);
  EXPECT_EQ(elements(DType::kResource), Elements::kHost);
  EXPECT_EQ(elements(DType::kFloat), Elements::kDevice);
  EXPECT_EQ(context.ops[find("NoOp")].elements, Elements::kUnknown);
}

}  // namespace
}  // namespace emplace::placement
