#include "exec/fold.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

class EmptyEnvironment final : public PlanEnvironment {
 public:
  Device* device_of(const Node&) override { return nullptr; }
  std::vector<Device*> place_function(const Function&, Device*, std::span<Device* const>) override {
    return {};
  }
  const KernelRegistry& kernels() override { return kernels_; }
  ResourceManager& resources() override { return resources_; }
  Device* host() override { return nullptr; }

 private:
  KernelRegistry kernels_;
  ResourceManager resources_;
};

// Gradients of convolutions ask for both shapes at once: what is not known when the plan is made is
// neither tried nor recorded.
TEST(Fold, ShapesOfSeveralTensorsNeedTheirShapesOnly) {
  testing::StepGraphMaker maker;
  EmptyEnvironment environment;
  const auto input = [&](Shape shape) {
    const int i = maker.add({});
    maker.g.steps[i].outputs[0].shape = std::move(shape);
    return i;
  };
  const Output any{maker.graph().add("Placeholder", {}, {{"dtype", DType::kFloat}}), 0};
  const Node* node = maker.graph().add("ShapeN", {any, any}, {{"N", int64_t{2}}});
  const int a = input({2, 3}), b = input({5});
  const int shapes = maker.add_node(node, {{a, 0}, {b, 0}}, 2);
  Step& s = maker.g.steps[shapes];
  s.outputs.push_back(s.outputs[0]);
  s.outputs[0].dtype = s.outputs[1].dtype = DType::kInt32;
  s.outputs[0].shape = {2}, s.outputs[1].shape = {1};
  const std::vector<Tensor> found = fold_integers(maker.g, s, environment);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].data<int32_t>()[1], 3);
  EXPECT_EQ(found[1].data<int32_t>()[0], 5);
  maker.g.steps[b].outputs[0].shape = Shape::unknown();
  EXPECT_TRUE(fold_integers(maker.g, s, environment).empty());
}

}  // namespace
}  // namespace emplace
