// One Eager used by many threads at once; run under the thread sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "emplace/eager.h"
#include "emplace/graph.h"

namespace emplace {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 50;

void at_once(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
}

Tensor variable(Eager& e, const std::string& name) {
  const AttrList attrs = {{"dtype", DType::kFloat}, {"shape", Shape({})}, {"shared_name", name}};
  return e.execute("VarHandleOp", {}, attrs).at(0);
}

float read(Eager& e, const Tensor& handle) {
  return e.execute("ReadVariableOp", std::vector{handle}, {{"dtype", DType::kFloat}})
      .at(0)
      .item<float>();
}

TEST(EagerThreads, PrepareAndRunTheSameOperations) {
  Eager e;
  std::atomic<int> wrong = 0;
  at_once([&](int i) {
    for (int n = 1; n <= kRounds; ++n) {
      const Tensor x = Tensor::scalar(static_cast<float>(i)), y = Tensor::scalar(n * 1.f);
      const Tensor sum = e.execute("AddV2", std::vector{x, y}).at(0);
      const Tensor product = e.execute("Mul", std::vector{sum, y}).at(0);
      if (product.item<float>() != static_cast<float>((i + n) * n)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EagerThreads, KeepVariablesOfTheirOwn) {
  Eager e;
  std::atomic<int> wrong = 0;
  at_once([&](int i) {
    const Tensor handle = variable(e, "own" + std::to_string(i));
    for (int n = 0; n < kRounds; ++n) {
      e.execute("AssignVariableOp", std::vector{handle, Tensor::scalar(static_cast<float>(n))});
      e.execute("AssignAddVariableOp", std::vector{handle, Tensor::scalar(static_cast<float>(i))});
      if (read(e, handle) != static_cast<float>(n + i)) ++wrong;
    }
    e.execute("DestroyResourceOp", std::vector{handle});
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EagerThreads, AddToASharedVariable) {
  Eager e;
  const Tensor handle = variable(e, "shared");
  e.execute("AssignVariableOp", std::vector{handle, Tensor::scalar(0.f)});
  at_once([&](int) {
    for (int n = 0; n < kRounds; ++n)
      e.execute("AssignAddVariableOp", std::vector{handle, Tensor::scalar(1.f)});
  });
  EXPECT_EQ(read(e, handle), static_cast<float>(kThreads * kRounds));
}

TEST(EagerThreads, CallOneFunction) {
  Eager e;
  auto graph = std::make_shared<Graph>();
  const Output x{graph->add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape({})}}), 0};
  const Output square{graph->add("Mul", std::vector{x, x}), 0};
  const Output sum{graph->add("AddV2", std::vector{square, x}), 0};
  const auto function = e.prepare(graph, {x}, {sum}, {});
  std::atomic<int> wrong = 0;
  at_once([&](int i) {
    const auto v = static_cast<float>(i);
    for (int n = 0; n < kRounds; ++n) {
      std::vector<Tensor> found;
      function->run(std::vector{Tensor::scalar(v)}, found);
      if (found.at(0).item<float>() != v * v + v) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// A log that waits for another thread's, as one of Python's waits for the interpreter's lock.
TEST(EagerThreads, AreToldOfByALogThatWaitsForAnother) {
  Eager e;
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;
  bool all_came = true;
  e.set_log([&](const std::string&, const std::string&) {
    std::unique_lock lock(mutex);
    ++told;
    changed.notify_all();
    all_came &= changed.wait_for(lock, std::chrono::minutes(2), [&] { return told >= kThreads; });
  });
  at_once([&](int) { e.execute("Neg", std::vector{Tensor::scalar(1.f)}); });
  EXPECT_TRUE(all_came);
}

}  // namespace
}  // namespace emplace
