#include "placement/dynamic/dynamic_placer.h"

#include "placement/log_text.h"
#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using ::testing::HasSubstr;

// So many microseconds on each type of device, whatever the node; links of 10 µs and 1 GB/s.
class FlatCosts final : public CostSource {
 public:
  explicit FlatCosts(std::map<std::string, double> us) : us_(std::move(us)) {}
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override {
    if (node.type() == "Const" || node.type() == "VarHandleOp") return NodeCost{0};
    return NodeCost{us_.at(device.type) * 1e-6, 0, true};
  }
  double bytes(const Node& node, int) const override {
    const AttrValue* value = node.type() == "Const" ? node.attr("value") : nullptr;
    return value ? static_cast<double>(value->as<Tensor>().bytes()) : 1000;
  }
  CostLink link(const DeviceInfo&, const DeviceInfo&) const override { return {10e-6, 1e9}; }

 private:
  const std::map<std::string, double> us_;
};

// GPU:1 is estimated to be a little slower than GPU:0, and may be much slower.
class DoubtfulCosts final : public CostSource {
 public:
  explicit DoubtfulCosts(double doubt) : doubt_(doubt) {}
  std::optional<NodeCost> time(const Node&, const DeviceInfo& device) const override {
    if (device.type == "CPU") return NodeCost{1};
    return device.name.ends_with("GPU:0") ? NodeCost{100e-6, 0, true}
                                          : NodeCost{110e-6, doubt_, false};
  }
  double bytes(const Node&, int) const override { return 1000; }
  CostLink link(const DeviceInfo&, const DeviceInfo&) const override { return {1e-6, 1e9}; }

 private:
  const double doubt_;
};

class Dynamic : public PlacingTest {
 protected:
  Dynamic() {
    devices = devices_named({full("CPU:0"), full("GPU:0"), full("GPU:1")});
    options.search = {.budget_ms = {}, .evaluations = 2000};
  }
  const Placed& place(const CostSource& costs) {
    return placement.emplace(graph.nodes(), devices, kernels, options, std::vector<int>(),
                             "dynamic", &costs);
  }
  // `branches` chains of `length` nodes from one source to one sink.
  void branches(int branches, int length) {
    Node* in = add("TestCPUGPUOutput", "in");
    for (int b = 0; b < branches; ++b) {
      Node* last = in;
      for (int i = 0; i < length; ++i)
        last = add("TestRelu", "b" + std::to_string(b) + "_" + std::to_string(i),
                   {last->output()});
    }
  }
  // `n` matrices of `mib`, each multiplied with the last product.
  void layers(int n, int64_t mib) {
    Node* h = constant("x", {1, 1024});
    for (int i = 0; i < n; ++i) {
      Node* w = constant("w" + std::to_string(i), {1024, mib * 256});
      h = add("MatMul", "h" + std::to_string(i), {h->output(), w->output()}, {},
              {{"T", DType::kFloat}, {"transpose_a", false}, {"transpose_b", false}});
    }
  }
  Node* constant(const std::string& name, Shape shape) {
    return add("Const", name, {}, {},
               {{"dtype", DType::kFloat}, {"value", Tensor(DType::kFloat, shape)}});
  }
};

TEST_F(Dynamic, SpreadsBranchesOverDevicesThatAreEquallyFast) {
  branches(2, 4);
  const Placed& placed = place(FlatCosts({{"CPU", 1000}, {"GPU", 100}}));
  EXPECT_NE(at("b0_3"), at("b1_3"));
  EXPECT_EQ(at("b0_0"), at("b0_3"));
  EXPECT_EQ(placed.explain(5).reason, Reason::kCost);
}

TEST_F(Dynamic, StaysOnOneDeviceWhereCopiesCostMore) {
  branches(2, 4);
  place(FlatCosts({{"CPU", 1000}, {"GPU", 1}}));
  EXPECT_EQ(at("b0_3"), at("b1_3"));
}

TEST_F(Dynamic, LeavesTheBestSingleDeviceOnlyForAGainThatIsSure) {
  branches(2, 4);
  graph.set_device(graph.find("in"), "/device:GPU:0");
  place(DoubtfulCosts(1e-6));
  EXPECT_NE(at("b0_3"), at("b1_3"));
  EXPECT_THAT(why("b0_3").detail, HasSubstr(" less than with "));
  place(DoubtfulCosts(500e-6));
  EXPECT_EQ(at("b0_3"), at("b1_3"));
  EXPECT_THAT(why("b0_3").detail, HasSubstr("no other placement is sure to be faster"));
}

TEST_F(Dynamic, SaysWithFiguresWhyHereAndWhyNotThere) {
  branches(1, 2);
  place(FlatCosts({{"CPU", 9000}, {"GPU", 500}}));
  const PlacedNode why = this->why("b0_1");
  EXPECT_THAT(why.detail, HasSubstr("finishes 1.5 ms on " + at("b0_1") + "; "));
  ASSERT_EQ(why.rejected.size(), 2u);
  EXPECT_THAT(why.rejected[0].why, HasSubstr("finishes 10 ms on CPU:0"));
}

TEST_F(Dynamic, KeepsPinsAndSaysSo) {
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestRelu", "n", {in->output()}, "/device:CPU:0");
  place(FlatCosts({{"CPU", 9000}, {"GPU", 500}}));
  EXPECT_EQ(at("n"), "CPU:0");
  EXPECT_THAT(why("n").detail, HasSubstr("pinned by the user to '/device:CPU:0'; finishes "));
}

TEST_F(Dynamic, APartialNameNarrows) {
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestRelu", "n", {in->output()}, "/device:GPU:*");
  place(FlatCosts({{"CPU", 1}, {"GPU", 5000}}));
  EXPECT_EQ(type("n"), "GPU");
}

TEST_F(Dynamic, KeepsWhatWasPlacedBefore) {
  branches(2, 2);
  std::vector<int> before(graph.nodes().size(), -1);
  before[2] = 0;
  const FlatCosts costs({{"CPU", 9000}, {"GPU", 500}});
  placement.emplace(graph.nodes(), devices, kernels, options, before, "dynamic", &costs);
  EXPECT_EQ(at("b0_1"), "CPU:0");
}

TEST_F(Dynamic, SpreadsWhatOneDeviceCannotHold) {
  layers(6, 8);
  devices[1].memory = devices[2].memory = 40 << 20;  // of 48 MiB
  place(FlatCosts({{"CPU", 1e6}, {"GPU", 100}}));
  std::map<std::string, int> count;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(at("w" + n), at("h" + n)) << "a matrix is copied in each step";
    ++count[at("h" + n)];
  }
  EXPECT_EQ(count["CPU:0"], 0);
  EXPECT_EQ(count["GPU:0"] + count["GPU:1"], 6);
  EXPECT_LE(count["GPU:0"], 4);
  EXPECT_LE(count["GPU:1"], 4);
}

TEST_F(Dynamic, LeavesRoomForTheFirstValuesOfVariables) {
  devices = devices_named({full("CPU:0"), full("GPU:0"), full("GPU:1"), full("GPU:2"), full("GPU:3")});
  for (size_t d = 1; d < devices.size(); ++d) devices[d].memory = 16 << 20;
  layers(12, 3);  // three devices could hold them, but nothing beside
  place(FlatCosts({{"CPU", 1e6}, {"GPU", 100}}));
  std::map<std::string, int> count;
  for (int i = 0; i < 12; ++i) ++count[at("w" + std::to_string(i))];
  for (const char* gpu : {"GPU:0", "GPU:1", "GPU:2", "GPU:3"}) EXPECT_EQ(count[gpu], 3) << gpu;
}

TEST_F(Dynamic, NamesNodesAndMissingBytesWhereNothingHasRoom) {
  layers(3, 8);
  for (DeviceInfo& d : devices) d.memory = 4 << 20;
  try {
    place(FlatCosts({{"CPU", 1}, {"GPU", 1}}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_EQ(e.node(), "w0");
    EXPECT_EQ(e.source(), "model.py:7");
    EXPECT_THAT(e.message(), HasSubstr("No device has room for 'w"));
    EXPECT_THAT(e.message(), HasSubstr("bytes are missing"));
  }
}

TEST_F(Dynamic, WithoutASearchWorthItTheTypeThatIsLikedBestStays) {
  branches(1, 3);
  place(FlatCosts({{"CPU", 100}, {"GPU", 101}}));
  EXPECT_EQ(type("b0_2"), "GPU");
}

TEST_F(Dynamic, BelievesAHintOfCost) {
  Node* in = add("TestCPUGPUOutput", "in");
  Node* n = add("TestRelu", "n", {in->output()});
  graph.set_attr(n, "_placement_cost", std::vector<std::string>{"GPU=2", "0.000001"});
  place(FlatCosts({{"CPU", 9000}, {"GPU", 500}}));
  EXPECT_EQ(at("n"), "CPU:0");
  EXPECT_THAT(why("n").rejected[0].why, HasSubstr("finishes 2e+03 ms on GPU:0"));
}

TEST_F(Dynamic, AHintThatIsNoNumberIsAnErrorThatNamesTheNode) {
  Node* n = add("TestCPUGPUOutput", "in");
  graph.set_attr(n, "_placement_cost", std::vector<std::string>{"GPU=much"});
  try {
    place(FlatCosts({{"CPU", 1}, {"GPU", 1}}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.node(), "in");
    EXPECT_THAT(e.message(), HasSubstr("'GPU=much' in _placement_cost"));
  }
}

TEST_F(Dynamic, KeepsTogetherWhatUsersWantTogether) {
  branches(2, 4);
  for (const char* name : {"b0_3", "b1_3", "b0_0"})
    graph.set_attr(graph.find(name), "_placement_together", std::string("ends"));
  place(FlatCosts({{"CPU", 1000}, {"GPU", 100}}));
  EXPECT_EQ(at("b0_3"), at("b1_3"));
  EXPECT_EQ(at("b0_3"), at("b0_0"));
}

TEST_F(Dynamic, WishesGiveWayToDemands) {
  Node* in = add("TestCPUGPUOutput", "in");
  add("TestRelu", "a", {in->output()}, "/device:CPU:0");
  add("TestRelu", "b", {in->output()}, "/device:GPU:0");
  for (const char* name : {"a", "b"})
    graph.set_attr(graph.find(name), "_placement_together", std::string("both"));
  place(FlatCosts({{"CPU", 1000}, {"GPU", 100}}));
  EXPECT_EQ(at("a"), "CPU:0");
  EXPECT_EQ(at("b"), "GPU:0");
}

TEST_F(Dynamic, NothingToPlaceIsFine) {
  EXPECT_EQ(place(FlatCosts({{"CPU", 1}, {"GPU", 1}})).size(), 0u);
}

}  // namespace
}  // namespace emplace::placement_test
