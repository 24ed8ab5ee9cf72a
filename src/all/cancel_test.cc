#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include "backends/cpu/cpu_kernels.h"
#include "emplace/emplace.h"
#include "kernel/kernel.h"
#include "op/shape_context.h"
#include "session/session_impl.h"
#include "stdops/stdops.h"

namespace emplace {
namespace {

constexpr OpRow kCancelRows[] = {
    {"Linger(wait: bool) -> () | stateful", shape_rules::none, cost_rules::cheap,
     "Notes whose step it belongs to; with `wait`, ends when cancelled and keeps the canceller."},
    {"CloseSession() -> () | stateful", shape_rules::none, cost_rules::cheap,
     "Closes the session that it runs in."},
    {"Toil() -> () | stateful", shape_rules::none, cost_rules::cheap,
     "A loop of many blocks, the first of which cancels the session."}};

std::vector<Cancellation*> seen;  // one for each instance that was used
std::binary_semaphore waiting{0}, failed{0}, go_on{0};

void linger(KernelContext& c) {
  seen.push_back(&c.cancellation());
  if (!*c.input(0).data<bool>()) return;
  std::shared_ptr<Continuation> rest = c.suspend();
  c.cancellation().add([rest] {
    rest->fail(cancelled("it was cancelled"));
    failed.release();
    go_on.acquire();
  });
  waiting.release();
}

constexpr int kBlocks = 500;
Session* toiling = nullptr;
std::atomic<int> toiled{0};

void toil(KernelContext& c) {
  c.parallel_for(kBlocks, 1e9, [](int64_t, int64_t) {
    ++toiled;
    toiling->cancel();
  });
}

void close_session(KernelContext&) { toiling->close(); }

const OpRegistry& ops() {
  static const OpRegistry* const ops = [] {
    auto* r = new OpRegistry;
    register_all_ops(*r);
    r->add(kCancelRows);
    return r;
  }();
  return *ops;
}

const KernelRegistry& kernels() {
  static const KernelRegistry* const kernels = [] {
    auto* r = new KernelRegistry;
    register_cpu_kernels(*r);
    KernelTraits waits;
    waits.blocks = true;
    r->add({"Linger", "CPU", {}, {}, &stateless<linger>, waits, 0, ""});
    r->add({"CloseSession", "CPU", {}, {}, &stateless<close_session>, {}, 0, ""});
    r->add({"Toil", "CPU", {}, {}, &stateless<toil>, {}, 0, ""});
    return r;
  }();
  return *kernels;
}

// A session over nodes that know it.
std::unique_ptr<Session> session_with(Graph& graph, int threads) {
  SessionOptions options;
  options.virtual_gpus = 0;
  options.inter_op_parallelism_threads = threads;
  auto session = make_session(graph, options, kernels());
  toiling = session.get();
  return session;
}

// A step may end while whoever cancelled it is still calling back: were its instance leased again
// by then, the next step would be cancelled too.
TEST(Cancel, ACancelledInstanceIsNotUsedAgainBeforeItsCancellerHasLeft) {
  seen.clear();
  Graph graph(ops());
  const Scope in_graph = graph.as_default();
  const Output wait = placeholder(DType::kBool, Shape{});
  Node* const target = graph.add("Linger", {wait});
  SessionOptions options;
  options.virtual_gpus = 0;
  auto session = make_session(graph, options, kernels());
  std::thread cancelled_run([&] {
    EXPECT_THROW(session->run(target, {{wait, Tensor::scalar(true)}}), Error);
  });
  waiting.acquire();
  const ActiveStep step = session->impl().active.front();
  std::thread canceller([&] { step.instance->cancel(step.step, cancelled("by a test")); });
  failed.acquire();
  cancelled_run.join();
  session->run(target, {{wait, Tensor::scalar(false)}});
  go_on.release();
  canceller.join();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NE(seen[0], seen[1]);
}

TEST(Cancel, AKernelEndsInItsLoop) {
  for (const int threads : {1, 4}) {
    toiled = 0;
    Graph graph(ops());
    Node* const target = graph.add("Toil", {});
    const auto session = session_with(graph, threads);
    EXPECT_THROW(session->run(target), Error);
    EXPECT_LT(toiled, kBlocks);
    toiled = 0;
    EXPECT_THROW(session->run(target), Error);  // it can be used again
    EXPECT_GT(toiled, 0);
  }
}

TEST(Cancel, AStepMayCloseItsOwnSession) {
  for (const int threads : {1, 4}) {
    Graph graph(ops());
    Node* const target = graph.add("CloseSession", {});
    const auto session = session_with(graph, threads);
    EXPECT_THROW(session->run(target), Error);
    EXPECT_TRUE(session->closed());
    session->close();  // frees what the step still needed
  }
}

}  // namespace
}  // namespace emplace
