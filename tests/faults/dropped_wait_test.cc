// Virtual GPUs are really asynchronous: a plan without one of its waits gives wrong results. And
// their memory is apart: a CPU kernel handed an address of theirs is caught in debug builds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "all/session_testutil.h"
#include "emplace/emplace.h"
#include "session/session_impl.h"

namespace emplace {
namespace {

using testing::session_kernels;
using testing::session_ops;

constexpr int kGraphs = 6;
constexpr int kSlow[] = {400, 4'000, 40'000};  // microseconds; more where others are at work
constexpr int kRuns = 3;

class DropWait {
 public:
  explicit DropWait(int which) { planner_options().drop_wait = which; }
  ~DropWait() { planner_options().drop_wait = -1; }
};

// A sum of slow nodes over two GPUs, in an order that the seed gives.
struct Towers {
  Graph graph{session_ops()};
  Output x, sum;
  int weight = 0;  // sum = weight * x

  Towers(uint32_t seed, int slow) {
    std::mt19937 random(seed);
    const Scope in_graph = graph.as_default();
    x = placeholder(DType::kFloat, Shape{4});
    std::vector<std::pair<Output, int>> values = {{x, 1}};
    for (int i = 0; i < 8; ++i) {
      const Scope on = graph.device(random() % 2 ? "/gpu:0" : "/gpu:1");
      const auto [a, wa] = values[random() % values.size()];
      const auto [b, wb] = values[random() % values.size()];
      values.push_back({op("Slow", {a}, {{"us", slow}}) + b, wa + wb});
    }
    const Scope on = graph.device("/gpu:0");
    std::vector<Output> all;
    for (const auto& [v, w] : values) all.push_back(v), weight += w;
    sum = add_n(all);
  }

  // Each run brings another value: what was left from the last one shows.
  bool right() {
    SessionOptions o;
    o.virtual_gpus = 2;
    o.virtual_gpu_memory = 4 << 20;
    auto session = make_session(graph, o, session_kernels());
    for (int i = 1; i <= kRuns; ++i) {
      const auto v = static_cast<float>(i);
      const Tensor y = session->run(sum, {{x, Tensor::of({v, v, v, v}, {4})}});
      for (const float got : y.values<float>())
        if (got != v * static_cast<float>(weight)) return false;
    }
    return true;
  }
};

TEST(DroppedWait, ShowsInTheResults) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a dropped wait is a data race";
#endif
  const auto hurt = [](uint32_t seed, int slow) {
    Towers towers(seed, slow);
    EXPECT_TRUE(towers.right()) << "with every wait, seed " << seed;
    for (int k = 0; k < 8; ++k) {
      const DropWait drop(k);
      if (!towers.right()) return true;
    }
    return false;
  };
  for (uint32_t seed = 0; seed < kGraphs; ++seed)
    EXPECT_TRUE(std::ranges::any_of(kSlow, [&](int slow) { return hurt(seed, slow); })) << seed;
}

TEST(AddressCheck, ACpuKernelHandedAGpusAddressFailsInDebugBuilds) {
#ifndef EMPLACE_DEBUG
  GTEST_SKIP() << "checked in debug builds";
#endif
  Graph graph(session_ops());
  const Scope in_graph = graph.as_default();
  const Output x = placeholder(DType::kFloat, Shape{4});
  Output y;
  {
    const Scope on = graph.device("/gpu:0");
    y = op("Neg", {x}, {}, "on_gpu");
  }
  const Scope on = graph.device("/cpu:0");
  const Output z = op("Square", {y}, {}, "on_cpu");
  SessionOptions o;
  o.virtual_gpus = 1;
  o.virtual_gpu_memory = 1 << 20;
  auto session = make_session(graph, o, session_kernels());
  const Feeds feeds = {{x, Tensor::of({1.f, 2.f, 3.f, 4.f}, {4})}};
  EXPECT_EQ(session->run(z, feeds).str(), "[ 1.  4.  9. 16.]");

  Program& p = *session->impl().families.begin()->second->programs.front().program;
  uint32_t gpu_slot = 0;
  for (size_t i = 0; i < p.size(); ++i)
    if (*p.labels[i].name == "on_gpu" && p.labels[i].kind == StepKind::kKernel)
      gpu_slot = p.sites[i].operands[p.sites[i].num_inputs];
  for (size_t i = 0; i < p.size(); ++i)
    if (*p.labels[i].name == "on_cpu")
      p.operands[static_cast<size_t>(p.sites[i].operands - p.operands.data())] = gpu_slot;
  try {
    session->run(z, feeds);
    ADD_FAILURE() << "the kernel read the GPU's memory";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInternal);
    EXPECT_EQ(e.node(), "on_cpu");
    EXPECT_NE(e.message().find("wrong memory"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace emplace
