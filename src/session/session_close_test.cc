#include <gtest/gtest.h>

#include "emplace/emplace.h"

namespace emplace {
namespace {

SessionOptions on_two_gpus_with_own_threads() {
  SessionOptions o;
  o.virtual_gpus = 2;
  o.virtual_gpu_memory = 1 << 20;
  o.use_per_session_threads = true;
  o.inter_op_parallelism_threads = 2;
  return o;
}

// The thread that ends a step may still be inside it when run() returns: it must not be the one
// that frees the devices, and with them itself.
TEST(SessionClose, ASessionMayEndRightAfterItsLastStep) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  std::vector<Output> halves;
  for (const char* device : {"/gpu:0", "/gpu:1", "/cpu:0"}) {
    const Scope on = graph.device(device);
    halves.push_back(constant(1.f) + constant(2.f));
  }
  const Output sum = add_n(halves);
  for (int i = 0; i < 60; ++i) {
    Session session(graph, on_two_gpus_with_own_threads());
    ASSERT_EQ(session.run(sum).item<float>(), 9.f);
  }
}

}  // namespace
}  // namespace emplace
