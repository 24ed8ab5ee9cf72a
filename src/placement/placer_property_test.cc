// Random graphs: what must hold for every placement, whatever the rules preferred.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "placement/node_index.h"
#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

// A random graph over three tasks, and which of its nodes are tied by references or resources.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    for (int task : {0, 1}) {
      for (const char* device : {"CPU:0", "CPU:1", "GPU:0", "GPU:1", "GPU:10"}) {
        devices.push_back(device_info(
            fmt::format("/job:w/replica:0/task:{}/device:{}", task, device), "", task == 0));
      }
    }
    devices.push_back(device_info("/job:ps/replica:0/task:0/device:CPU:0", "", false));
    const int n = 5 + pick(60);
    while (static_cast<int>(tied_.size()) < n) add_one();
  }

  Graph graph{test_ops()};
  std::vector<DeviceInfo> devices;
  bool has_edge_tie(const Node* node) { return tied_[root(node->id())].edge; }
  bool together(const Node* a, const Node* b) { return root(a->id()) == root(b->id()); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  struct Tie {
    int parent;
    bool edge;  // a reference or resource edge is in the group
  };

  void add_one() {
    static const std::vector<const char*> sources = {"TestInput", "TestCPUGPUOutput",
                                                     "TestGPUOutput"};
    static const std::vector<const char*> variables = {"TestVariable", "VariableCPU",
                                                       "VariableGPU"};
    static const std::vector<const char*> handles = {"Handle", "MakePreferCPU", "HandleGPU"};
    static const std::vector<const char*> unary = {"TestRelu", "ReluCPU",  "ReluGPU",
                                                   "Identity", "Shape",    "TestPrioritised"};
    const int kind = values_.empty() ? 0 : pick(10);
    if (kind == 0) {
      keep(node(sources[pick(3)], {}), values_);
    } else if (kind == 1) {
      keep(node(variables[pick(3)], {}), variables_);
    } else if (kind == 2) {
      keep(node(handles[pick(3)], {}), handles_);
    } else if (kind == 3 && !variables_.empty()) {
      tie(node("TestAssign", {any(variables_), any(values_)}));
    } else if (kind == 4 && !handles_.empty()) {
      tie(keep(node("UseAnywhere", {any(handles_)}), values_));
    } else if (kind == 5) {
      keep(node("TestAdd", {any(values_), any(values_)}), values_);
    } else {
      Node* n = node(unary[pick(6)], {any(values_)});
      if (n->output_type(0) == DType::kFloat) keep(n, values_);
    }
  }

  Node* node(const char* op, std::vector<Output> inputs) {
    const int id = static_cast<int>(tied_.size());
    AttrList attrs;
    std::vector<std::string> with;
    while (id > 0 && pick(8) == 0) with.push_back(fmt::format("n{}", pick(id)));
    if (!with.empty()) attrs.push_back({"_class", groups(with)});
    std::vector<Node*> after;
    if (id > 0 && pick(10) == 0) after.push_back(graph.nodes()[pick(id)]);
    Node* made = add_node(graph, op, fmt::format("n{}", id), std::move(inputs), device(),
                          std::move(attrs), std::move(after));
    tied_.push_back({id, false});
    for (const std::string& name : with) join(id, std::stoi(name.substr(1)));
    return made;
  }
  std::string device() {
    static const std::vector<const char*> some = {
        "/device:GPU:0", "/device:GPU:1", "/device:CPU:0", "/device:CPU:1", "/device:GPU:*",
        "/device:GPU:7", "/job:w",        "/job:ps",       "/task:0",       "/job:w/task:1"};
    return pick(4) ? "" : some[pick(static_cast<int>(some.size()))];
  }
  Node* keep(Node* node, std::vector<Output>& list) {
    list.push_back(node->output());
    return node;
  }
  Output any(const std::vector<Output>& list) { return list[pick(static_cast<int>(list.size()))]; }
  void tie(Node* user) {
    join(user->id(), user->inputs()[0].node->id());
    tied_[root(user->id())].edge = true;
  }
  int root(int i) {
    while (tied_[i].parent != i) i = tied_[i].parent;
    return i;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    tied_[a].edge |= tied_[b].edge;
    tied_[b].parent = a;
  }

  std::mt19937 random_;
  std::vector<Output> values_, variables_, handles_;
  std::vector<Tie> tied_;
};

bool runs_there(const FakeKernels& kernels, const Node& node, const std::string& type) {
  const auto types = kernels.kernels(node).types;
  return std::ranges::any_of(types, [&](const Support& s) { return s.type == type; });
}

bool same_task(const DeviceName& asked, const DeviceName& given) {
  return (!asked.job || asked.job == given.job) &&
         (!asked.replica || asked.replica == given.replica) &&
         (!asked.task || asked.task == given.task);
}

// Resources passed by edges: source and reader.
template <class F>
void for_each_tie(Graph& graph, F&& f) {
  for (Node* node : graph.nodes()) {
    const std::string& op = node->type();
    if (op == "TestAssign" || op == "UseAnywhere") f(node->inputs()[0].node, node);
  }
}

class RandomPlacement : public ::testing::TestWithParam<bool> {
 protected:
  PlacementOptions options{.allow_soft_placement = GetParam()};
  FakeKernels kernels;

  void check(RandomGraph& g, const Placed& placed) {
    const std::vector<Node*> nodes = g.graph.nodes();
    for (size_t i = 0; i < nodes.size(); ++i) check_node(g, *nodes[i], placed.info(i));
    for_each_tie(g.graph, [&](Node* a, Node* b) {
      EXPECT_EQ(placed.device(a->id()), placed.device(b->id())) << a->name() << b->name();
    });
    if (options.allow_soft_placement) return;
    for (const Node* a : nodes) {
      for (const Node* b : nodes) {
        if (!g.together(a, b)) continue;
        EXPECT_EQ(placed.device(a->id()), placed.device(b->id()));
      }
    }
  }
  void check_node(RandomGraph& g, const Node& node, const DeviceInfo& device) {
    EXPECT_TRUE(runs_there(kernels, node, device.type)) << node.definition() << device.name;
    if (node.device().empty() || g.has_edge_tie(&node)) return;
    const DeviceName asked = DeviceName::parse(node.device());
    EXPECT_TRUE(same_task(asked, device.parsed)) << node.definition() << device.name;
    if (options.allow_soft_placement) return;
    EXPECT_TRUE(asked.is_specification_of(device.parsed)) << node.definition() << device.name;
  }
  void check_same(RandomGraph& g, const Placed& placed) {
    const std::vector<Node*> nodes = g.graph.nodes();
    std::vector<DeviceInfo> shuffled = g.devices;
    std::ranges::shuffle(shuffled, std::mt19937(1));
    const Placed again(nodes, shuffled, kernels, options);
    const Placed kept(nodes, g.devices, kernels, options, placed.devices());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(again.info(i).name, placed.info(i).name) << "the devices' order matters";
      EXPECT_EQ(kept.info(i).name, placed.info(i).name) << "a placed node moved";
    }
    EXPECT_EQ(kept.log_text(), "");
  }
  void check_reasons(const Placed& placed, size_t num_devices) {
    for (const PlacedNode& p : placed.explain()) {
      EXPECT_EQ(p.rejected.size() + 1, num_devices);
      EXPECT_NE(p.detail, "");
      for (const Rejected& r : p.rejected) EXPECT_NE(r.why, "");
    }
  }
};

TEST_P(RandomPlacement, KeepsKernelsTiesPinsAndTasks) {
  const int rounds = std::getenv("EMPLACE_TEST_FULL") ? 20000 : 1000;
  int placed_count = 0;
  for (int seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph g(seed);
    try {
      const Placed placed(g.graph.nodes(), g.devices, kernels, options);
      check(g, placed);
      check_reasons(placed, g.devices.size());
      if (seed % 10 == 0) check_same(g, placed);
      ++placed_count;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument) << e.what();
      EXPECT_NE(e.node(), "") << e.what();
      EXPECT_EQ(e.source(), "model.py:7");
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(placed_count, rounds / 20) << "too few graphs can be placed at all";
  EXPECT_LT(placed_count, rounds) << "no graph was refused";
}

// What the simple placer can place the dynamic one can, and the same rules hold; where devices have
// memory, what they keep fits.
TEST_P(RandomPlacement, HoldsUnderTheDynamicPlacer) {
  const int rounds = std::getenv("EMPLACE_TEST_FULL") ? 10000 : 300;
  const DrawnCosts costs;
  options.search = {.budget_ms = {}, .evaluations = 100};
  int placed_count = 0, differ = 0;
  for (int seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph g(seed);
    std::optional<Placed> simple;
    Error refused(Code::kOk, "");
    try {
      simple.emplace(g.graph.nodes(), g.devices, kernels, options);
    } catch (const Error& e) {
      refused = e;
    }
    try {
      const Placed placed(g.graph.nodes(), g.devices, kernels, options, {}, "dynamic", &costs);
      ASSERT_TRUE(simple) << refused.what();
      check(g, placed);
      check_reasons(placed, g.devices.size());
      differ += placed.devices() != simple->devices();
      ++placed_count;
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()), refused.what());
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(placed_count, rounds / 20);
  EXPECT_GT(differ, placed_count / 4) << "the dynamic placer never had another idea";
}

INSTANTIATE_TEST_SUITE_P(All, RandomPlacement, ::testing::Bool());

TEST(RandomLogOrder, NamesEveryNodeOnceAfterItsInputs) {
  for (int seed = 0; seed < 100; ++seed) {
    RandomGraph g(seed);
    const std::vector<Node*> nodes = g.graph.nodes();
    const std::vector<int> order = placement::log_order(nodes);
    std::vector<int> when(nodes.size(), -1);
    for (size_t t = 0; t < order.size(); ++t) when[order[t]] = static_cast<int>(t);
    EXPECT_EQ(order.size(), nodes.size());
    for (const Node* node : nodes) {
      for (const Output& in : node->inputs()) EXPECT_LT(when[in.node->id()], when[node->id()]);
      for (const Node* before : node->control_inputs()) {
        EXPECT_LT(when[before->id()], when[node->id()]);
      }
    }
  }
}

}  // namespace
}  // namespace emplace::placement_test
