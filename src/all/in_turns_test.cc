#include <algorithm>
#include <map>

#include "all/session_fixture.h"
#include "placement/cost_source.h"
#include "placement/dynamic/cost_graph.h"

namespace emplace {
namespace {

// Nothing is worth doing on the CPU.
class FastCards final : public CostSource {
 public:
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override {
    return NodeCost{placement::kept_bytes(node) > 0 ? 0 : device.type == "CPU" ? 1 : 1e-4, 0, true};
  }
  double bytes(const Node& node, int output) const override {
    return 4.0 *
           static_cast<double>(std::max<int64_t>(1, node.output_shape(output).num_elements()));
  }
  CostLink link(const DeviceInfo&, const DeviceInfo&) const override { return {1e-5, 1e9}; }
};

// Variables of `mib` each with random first values, in a chain of products.
class InTurns : public testing::SessionFixture {
 protected:
  Output layers(int count, int64_t mib) {
    const auto ints = [](std::vector<int32_t> v) { return constant(Tensor::vector<int32_t>(v)); };
    Output h = placeholder(DType::kFloat, Shape{1, 1024});
    fed = h;
    for (int i = 0; i < count; ++i) {
      const Shape shape{1024, mib * 256};
      const std::vector<int32_t> dims = {1024, static_cast<int32_t>(mib * 256)};
      const Output noise = op("RandomStandardNormal", {constant(Tensor::vector<int32_t>(dims))},
                              {{"dtype", DType::kFloat}});
      const Output v = op("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", shape}},
                          "v" + std::to_string(i));
      first_values.push_back(assign(v, noise * constant(0.1f)).node);
      const Output product = matmul(h, identity(v));
      const Output twice = op("ConcatV2", {product, product, constant(int32_t{1})}, {{"N", 2}});
      h = op("Slice", {twice, ints({0, 0}), ints({1, 1024})});
    }
    return h;
  }
  // What the first run and a step hold, over four GPUs of 16 MiB.
  void expect_room(int count, int64_t mib) {
    const Output y = layers(count, mib);
    SessionOptions o = gpus(4);
    o.placer = "dynamic";
    o.placer_evaluations = 500;
    auto s = session(o);
    s->impl().told_costs = std::make_shared<FastCards>();
    s->run({}, {}, first_values);
    EXPECT_EQ(s->run(y, {{fed, Tensor(DType::kFloat, Shape{1, 1024})}}).num_elements(), 1024);
    std::map<std::string, int> on;
    for (const PlacementRow& r : s->placement(std::span(&y, 1)).rows)
      if (r.op.starts_with("Variable") || r.op == "VarHandleOp") ++on[r.device];
    EXPECT_EQ(on.size(), 4u);
    for (const auto& [device, variables] : on) EXPECT_LE(variables * mib, 15) << device;
  }
  std::vector<Node*> first_values;
  Output fed;
};

TEST_F(InTurns, DevicesThatVariablesNearlyFillHaveRoomForTheirFirstValues) { expect_room(13, 3); }
TEST_F(InTurns, SoHaveThoseThatVariablesFillByHalf) { expect_room(8, 4); }

TEST_F(InTurns, SoHasADeviceThatTheUserNames) {
  const Scope gpu = graph.device("/gpu:0");
  const Output y = layers(4, 3);
  SessionOptions o = gpus(1);
  o.allow_soft_placement = true;  // shapes
  auto s = session(o);
  s->run({}, {}, first_values);
  EXPECT_EQ(s->run(y, {{fed, Tensor(DType::kFloat, Shape{1, 1024})}}).num_elements(), 1024);
}

}  // namespace
}  // namespace emplace
