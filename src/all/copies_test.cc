// Where an edge crosses memories there is one copy, and nowhere else.
#include "all/session_fixture.h"

namespace emplace {
namespace {

class Copies : public testing::SessionFixture {
 protected:
  Output x = placeholder(DType::kFloat, Shape{2}, "x");
  Feeds feeds = {{x, Tensor::of({1.f, 2.f}, {2})}};

  Output on(const char* device, const char* type, std::vector<Output> inputs, const char* name,
            AttrList attrs = {}) {
    const Scope scope = graph.device(device);
    return op(type, inputs, std::move(attrs), name);
  }
  // "a -> GPU:0" for each copy of a step, in the order of the program.
  std::vector<std::string> copies(std::vector<Output> fetches) {
    RunOptions o;
    o.trace = true;
    RunMetadata m;
    auto s = session(gpus(2));
    got = s->run(feeds, fetches, {}, o, &m);
    std::vector<std::string> list;
    for (const NodeStats& n : m.nodes)
      if (n.op == "Copy") list.push_back(n.node + " by " + n.device.substr(n.device.size() - 5));
    return list;
  }
  using List = std::vector<std::string>;
  std::vector<Tensor> got;
};

TEST_F(Copies, OneDeviceNeedsNone) {
  const Output a = on("/cpu:0", "Neg", {x}, "a"), b = on("/cpu:0", "Square", {a}, "b");
  EXPECT_EQ(copies({b}), List{});
}

TEST_F(Copies, AnEdgeBetweenDevicesNeedsOne) {
  const Output a = on("/gpu:0", "Neg", {x}, "a"), b = on("/gpu:0", "Square", {a}, "b");
  EXPECT_EQ(copies({b}), (List{"x by GPU:0", "b by GPU:0"}));
  EXPECT_EQ(got[0].str(), "[1. 4.]");
}

TEST_F(Copies, SeveralUsersOnOneDeviceShareOne) {
  const Output a = on("/cpu:0", "Neg", {x}, "a");
  std::vector<Output> users;
  for (int i = 0; i < 3; ++i) users.push_back(on("/gpu:0", "Square", {a}, ""));
  const Output sum = on("/gpu:0", "AddN", users, "sum");
  EXPECT_EQ(copies({sum}), (List{"a by GPU:0", "sum by GPU:0"}));
  EXPECT_EQ(got[0].str(), "[ 3. 12.]");
}

TEST_F(Copies, EveryTargetDeviceHasItsOwn) {
  const Output a = on("/cpu:0", "Neg", {x}, "a");
  const Output b = on("/gpu:0", "Square", {a}, "b"), c = on("/gpu:1", "Square", {a}, "c");
  EXPECT_EQ(copies({b, c}), (List{"a by GPU:0", "a by GPU:1", "b by GPU:0", "c by GPU:1"}));
}

TEST_F(Copies, AControlEdgeBetweenDevicesOrdersAndCopiesNothing) {
  const Output slow = on("/gpu:0", "Slow", {constant({1.f, 1.f}, {2})}, "slow", {{"us", 2000}});
  std::vector<Output> after;
  {
    const Scope later = graph.control_dependencies(std::span(&slow.node, 1));
    for (const char* device : {"/cpu:0", "/gpu:1"}) {
      const Scope scope = graph.device(device);
      after.push_back(op("CountCalls", {constant({1.f, 1.f}, {2})}));
    }
  }
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  session(gpus(2))->run({}, after, {}, o, &m);
  int64_t slow_end = 0, first_start = INT64_MAX;
  for (const NodeStats& n : m.nodes) {
    if (n.op == "Slow") slow_end = n.end_ns;
    if (n.op == "CountCalls") first_start = std::min(first_start, n.start_ns);
    if (n.op == "Copy") {
      EXPECT_NE(n.node, "slow");
    }
  }
  EXPECT_GE(first_start, slow_end);
}

TEST_F(Copies, DataAndControlBetweenTwoDevicesNeedOne) {
  const Output a = on("/cpu:0", "Neg", {x}, "a");
  const Scope later = graph.control_dependencies(std::span(&a.node, 1));
  const Output b = on("/gpu:0", "Square", {a}, "b");
  EXPECT_EQ(copies({b}), (List{"a by GPU:0", "b by GPU:0"}));
}

// ---- Host memory of GPU operations.

TEST_F(Copies, IntegersOfAGpuStayInHostMemory) {
  const Output n = placeholder(DType::kInt32, Shape{}, "n");
  feeds.push_back({n, Tensor::scalar(3)});
  const Output m = on("/gpu:0", "AddV2", {n, n}, "m");
  EXPECT_EQ(copies({m}), List{});
  EXPECT_EQ(got[0].item<int32_t>(), 6);
}

TEST_F(Copies, AnIntegerThatAGpuKernelReadsInItsMemoryIsCopied) {
  const Output n = placeholder(DType::kInt32, Shape{}, "n");
  feeds.push_back({n, Tensor::scalar(3)});
  const Output m = on("/gpu:0", "AddV2", {n, n}, "m");
  const Output f = on("/gpu:0", "Cast", {m}, "f", {{"DstT", DType::kFloat}});
  EXPECT_EQ(copies({f}), (List{"m by GPU:0", "f by GPU:0"}));
  EXPECT_EQ(got[0].item<float>(), 6.f);
}

TEST_F(Copies, AnOutputInHostMemoryNeedsNoneOnItsWayToTheCpu) {
  const Output rank = on("/gpu:0", "Shape", {on("/gpu:0", "Neg", {x}, "a")}, "shape");
  const Output twice = on("/cpu:0", "AddV2", {rank, rank}, "twice");
  EXPECT_EQ(copies({twice}), List{"x by GPU:0"});
  EXPECT_EQ(got[0].str(), "[4]");
}

}  // namespace
}  // namespace emplace
