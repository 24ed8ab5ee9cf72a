// The executor by what it computes: counts come to zero once, whatever the number of threads.
#include <numeric>
#include <random>
#include <thread>

#include "all/session_fixture.h"

namespace emplace {
namespace {

class Executor : public testing::SessionFixture {
 protected:
  Output x = placeholder(DType::kFloat, Shape{}, "x");
  Feeds feeds = {{x, Tensor::scalar(1.f)}};

  static SessionOptions workers(int n) {
    SessionOptions o = gpus(0);
    o.use_per_session_threads = true;
    o.inter_op_parallelism_threads = n;
    return o;
  }
  // A node per element that may run beside the others, and takes long enough to be worth it.
  Output slow(Output in) { return op("Slow", {in}, {{"us", 20}}); }
};

TEST_F(Executor, AddsTwoNumbers) {
  EXPECT_EQ(session()->run(x + x, feeds).item<float>(), 2.f);
}

TEST_F(Executor, AChainOfSelfAdditionsDoubles) {
  Output v = x;
  for (int i = 0; i < 30; ++i) v = v + v;
  EXPECT_EQ(session()->run(v, feeds).item<float>(), static_cast<float>(1 << 30));
}

TEST_F(Executor, ARandomTreeSumsItsLeaves) {
  std::vector<Output> nodes(4096, x);
  std::mt19937 random(7);
  while (nodes.size() > 1) {
    const size_t i = random() % nodes.size();
    const Output a = nodes[i];
    nodes[i] = nodes.back();
    nodes.pop_back();
    Output& b = nodes[random() % nodes.size()];
    b = a + b;
  }
  for (const int n : {1, 2, 8})
    EXPECT_EQ(session(workers(n))->run(nodes[0], feeds).item<float>(), 4096.f) << n << " workers";
}

// More than 16 bits count, known before the run or not.
TEST_F(Executor, AnOperationTakesAndGivesAHundredThousandTensors) {
  constexpr int64_t kMany = 100'000;
  Output whole = placeholder(DType::kFloat, Shape{kMany});
  const Tensor ones(DType::kFloat, Shape{kMany});
  std::fill_n(ones.data<float>(), kMany, 1.f);
  auto s = session(workers(2));
  for (const Output& one : {x, constant(1.f)}) {
    const std::vector<Output> many(kMany, one);
    EXPECT_EQ(s->run(op("AddN", many), feeds).item<float>(), static_cast<float>(kMany));
    EXPECT_EQ(s->run(op("Pack", many), feeds).shape(), Shape{kMany});
    EXPECT_EQ(s->run(graph.add("IdentityN", many)->output(kMany - 1), feeds).item<float>(), 1.f);
  }
  const Output last = graph.add("Unpack", {whole}, {{"num", kMany}})->output(kMany - 1);
  EXPECT_EQ(s->run(last, {{whole, ones}}).item<float>(), 1.f);
}

TEST_F(Executor, GraphsWithoutInputsRun) {
  Node* const nothing = no_op("nothing");
  const Output one = constant(1.f);
  auto s = session(workers(2));
  s->run(nothing);
  EXPECT_EQ(s->run({}, std::span(&one, 1), std::span(&nothing, 1))[0].item<float>(), 1.f);
}

// Additions to one variable are not lost, whoever makes them.
TEST_F(Executor, UnorderedAdditionsToAVariableAllCount) {
  const VariableNodes v = variable(Tensor::scalar(0.f), "v");
  std::vector<Node*> adds;
  for (int i = 0; i < 16; ++i) adds.push_back(assign_add(v.ref, slow(x)).node);
  Node* const all = group(adds);
  auto s = session(workers(4));
  s->run(v.initializer);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) s->run(all, feeds);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(s->run(v.value).item<float>(), 16.f * 3 * 5);
}

TEST_F(Executor, AFailureInTheMiddleEndsTheStep) {
  std::vector<Output> branches;
  for (int i = 0; i < 8; ++i) branches.push_back(slow(slow(x)));
  branches[3] = op("FailWith", {slow(x)}, {{"code", 10}}, "bad");
  const Output sum = op("CountCalls", {add_n(branches)});
  auto s = session(workers(3));
  const int64_t before = testing::calls();
  for (int i = 0; i < 5; ++i) {
    const Error e = error_of([&] { s->run(sum, feeds); });
    EXPECT_EQ(e.code(), Code::kAborted);
    EXPECT_EQ(e.node(), "bad");
  }
  EXPECT_EQ(testing::calls(), before) << "what follows a failure does not run";
  EXPECT_EQ(s->run(branches[0], feeds).item<float>(), 1.f);
}

TEST_F(Executor, ACancelledStepLeavesTheSessionUsable) {
  Node* const wait = graph.add("WaitForCancel", {});
  auto s = session(workers(2));
  std::thread canceller([&] {
    const auto waits = [&] {
      const std::lock_guard lock(s->impl().active_mutex);
      return !s->impl().active.empty();
    };
    while (!waits()) std::this_thread::yield();
    s->cancel();
  });
  EXPECT_EQ(error_of([&] { s->run(wait); }).code(), Code::kCancelled);
  canceller.join();
  EXPECT_EQ(s->run(x + x, feeds).item<float>(), 2.f);
}

// ---- What a node waits for.

const Program& program_of(Session& s) {
  return *s.impl().families.begin()->second->programs.front().program;
}

uint32_t index_of(const Program& p, const std::string& name) {
  for (uint32_t i = 0; i < p.size(); ++i)
    if (*p.labels[i].name == name) return i;
  ADD_FAILURE() << "no instruction " << name;
  return 0;
}

TEST_F(Executor, ANodeWaitsForEachPredecessorOnce) {
  const Output a = op("CountCalls", {x}, {}, "a"), b = op("CountCalls", {x}, {}, "b");
  Node* const before[] = {a.node, b.node};
  Output c;
  {
    const Scope later = graph.control_dependencies(before);
    const Output thrice[] = {a, a, b};
    c = add_n(thrice, "c");
  }
  auto s = session(workers(2));
  EXPECT_EQ(s->run(op("CountCalls", {c}, {}, "d"), feeds).item<float>(), 3.f);
  const Program& p = program_of(*s);
  EXPECT_EQ(p.wiring[index_of(p, "a")].join, 0u);
  EXPECT_EQ(p.wiring[index_of(p, "b")].join, 0u);
  EXPECT_EQ(p.wiring[index_of(p, "c")].join, 2u);
  EXPECT_EQ(p.wiring[index_of(p, "d")].join, 1u);
}

TEST_F(Executor, ANodeStartsWhenItsLastInputIsThere) {
  for (const int n : {1, 2, 3, 7}) {
    std::vector<Output> inputs;
    for (int i = 0; i < n; ++i) inputs.push_back(slow(x));
    const Output sum = op("CountCalls", {add_n(inputs)});
    const int64_t before = testing::calls();
    EXPECT_EQ(session(workers(3))->run(sum, feeds).item<float>(), static_cast<float>(n));
    EXPECT_EQ(testing::calls() - before, 1);
  }
}

TEST_F(Executor, ANodeMayWaitForThousandsOfOthers) {
  std::vector<Node*> many;
  for (int i = 0; i < 3000; ++i) many.push_back(op("CountCalls", {x}).node);
  Output last;
  {
    const Scope later = graph.control_dependencies(many);
    last = op("CountCalls", {x}, {}, "last");
  }
  auto s = session(workers(3));
  const int64_t before = testing::calls();
  s->run(last, feeds);
  EXPECT_EQ(testing::calls() - before, 3001);
  const Program& p = program_of(*s);
  EXPECT_EQ(p.wiring[index_of(p, "last")].join, 3000u);
}

TEST_F(Executor, ANodeRunsAfterWhatItWaitsForAndBeforeWhatWaitsForIt) {
  Output v = x;
  for (int i = 0; i < 10; ++i) v = op("CountCalls", {v}, {}, "n" + std::to_string(i));
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  session(workers(2))->run(feeds, std::span(&v, 1), {}, o, &m);
  ASSERT_EQ(m.nodes.size(), 10u);
  for (size_t i = 1; i < m.nodes.size(); ++i) {
    EXPECT_EQ(m.nodes[i].node, "n" + std::to_string(i));
    EXPECT_GE(m.nodes[i].start_ns, m.nodes[i - 1].end_ns);
  }
}

// Several threads count one node down: it must run exactly once.
TEST_F(Executor, ThreadsThatFinishTogetherReleaseANodeOnce) {
  std::vector<Output> layer(8, x);
  for (int depth = 0; depth < 6; ++depth) {
    std::vector<Output> next;
    for (int i = 0; i < 8; ++i) next.push_back(op("CountCalls", {add_n(layer)}));
    layer = next;
  }
  const Output sum = add_n(layer);
  auto s = session(workers(4));
  float expected = 1;
  for (int depth = 0; depth < 7; ++depth) expected *= 8;
  for (int i = 0; i < 50; ++i) {
    const int64_t before = testing::calls();
    EXPECT_EQ(s->run(sum, feeds).item<float>(), expected);
    EXPECT_EQ(testing::calls() - before, 48);
  }
}

}  // namespace
}  // namespace emplace
