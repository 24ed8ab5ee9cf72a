// Every k-th allocation fails: a step ends with an error or with its values, and the session goes on. With
// EMPLACE_TEST_FULL=1 also while sessions are made and closed, for many k: nothing stays behind.
// EMPLACE_TEST_SEED=N EMPLACE_TEST_FAULT=K: that one, and the stack where it strikes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "allocation_faults.h"
#include "op/op_def.h"
#include "random_graph_testutil.h"

namespace emplace::testing {
namespace {

constexpr int kGraphs = 50;
constexpr int kNodes = 12;

SessionOptions two_kinds_of_devices() {
  SessionOptions o;
  o.virtual_gpus = 2;
  o.virtual_gpu_memory = 8 << 20;
  o.gpu_options.allow_growth = true;
  o.allow_soft_placement = true;
  o.use_per_session_threads = true;
  o.inter_op_parallelism_threads = 2;
  return o;
}

// All that a session does: what comes is nothing, or what is wrong.
class Life {
 public:
  explicit Life(const RandomGraph& graph) : g_(graph) {
    for (const auto& f : g_.pure) fetches_.push_back(f.output);
  }

  std::string run() const {
    Session s(g_.graph, two_kinds_of_devices());
    begin(s);
    std::string wrong;
    for (int round = 0; round < 2 && wrong.empty(); ++round) wrong = step(s);
    return wrong;
  }

  void begin(Session& s) const {
    for (Node* n : g_.initializers) s.run(n);
  }

  std::string step(Session& s) const {
    const std::vector<Tensor> got = s.run(g_.feeds, fetches_, {});
    for (size_t i = 0; i < got.size(); ++i)
      if (g_.pure[i].expected.has_value() && !same_bits(g_.pure[i].expected, got[i]))
        return g_.pure[i].output.node->definition() + "\n  expected " +
               describe(g_.pure[i].expected) + "\n  got      " + describe(got[i]);
    return "";
  }

 private:
  const RandomGraph& g_;
  std::vector<Output> fetches_;
};

bool of_memory(const std::exception& e) {
  const auto* error = dynamic_cast<const Error*>(&e);
  return error ? error->code() == Code::kResourceExhausted
               : dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
}

template <class F>
std::string with_fault(int64_t number, int64_t count, F run) {
  std::string wrong;
  faults::arm(number, count);
  try {
    wrong = run();
  } catch (const std::exception& e) {
    faults::disarm();
    if (!of_memory(e)) wrong = std::string("is no error of memory: ") + e.what();
  }
  faults::disarm();
  return wrong;
}

struct Counts {
  int64_t tried = 0, struck = 0;
  void add() { ++tried, struck += faults::hit; }
};

// Every second time many in a row.
int64_t how_many(int64_t k) { return k % 2 == 0 ? 50 : 1; }

// A session that lives on: its steps fail or are right, and the one after is right.
std::string check_steps(const Life& life, const RandomGraph& g, Counts& counts) {
  Session s(g.graph, two_kinds_of_devices());
  life.begin(s);
  for (int64_t k = 0;; ++k) {
    auto wrong = with_fault(k, how_many(k), [&] { return life.step(s); });
    counts.add();
    const bool struck = faults::hit;
    if (wrong.empty()) wrong = life.step(s);
    if (!wrong.empty()) return "fault " + std::to_string(k) + " of a step: " + wrong;
    if (!struck) return "";
  }
}

// Sessions from their beginning to their end.
std::string check(const RandomGraph& g, int64_t stride, int64_t offset, Counts& counts) {
  const Life life(g);
  int64_t all = 0, held = 0;
  for (int warm = 0; warm < 3; ++warm) {
    faults::arm(INT64_MAX / 2, 1);
    if (auto wrong = life.run(); !wrong.empty()) return "without faults: " + wrong;
    all = faults::disarm();
    held = faults::held;
  }
  for (int64_t k = offset; k < all; k += stride) {
    if (std::getenv("EMPLACE_TEST_SEED"))  // so that one that crashes is named
      std::printf("  fault %ld of %ld\n", static_cast<long>(k), static_cast<long>(all)), std::fflush(stdout);
    const std::string at = "fault " + std::to_string(k) + ": ";
    int64_t grown = 0;
    for (int again = 0; again < 3; ++again) {  // what is kept for later grows once
      if (auto wrong = with_fault(k, how_many(k), [&] { return life.run(); }); !wrong.empty())
        return at + wrong;
      counts.add();
      grown = faults::held - held;
      held += grown;
      if (grown <= 0) break;
    }
    if (grown > 0) return at + "loses " + std::to_string(grown) + " blocks";
  }
  if (auto wrong = life.run(); !wrong.empty()) return "after the faults: " + wrong;
  return "";
}

std::optional<int64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::optional<int64_t>(std::atoll(text)) : std::nullopt;
}

TEST(FailingAllocations, EndInAnErrorOrTheRightValues) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (!std::getenv("EMPLACE_TEST_SEED")) GTEST_SKIP() << "sanitizers take allocations over; the blocks are counted here";
#endif
  setenv("EMPLACE_HOST_TENSOR_MB", "64", 0);  // a size that was drawn may ask for gigabytes
  setenv("EMPLACE_HOST_CACHE_MB", "0", 0);    // every tensor is asked for
  const auto folder =
      std::filesystem::temp_directory_path() / ("failing_allocations_" + std::to_string(getpid()));
  const auto only = number_in("EMPLACE_TEST_SEED"), fault = number_in("EMPLACE_TEST_FAULT");
  const int64_t usual = fault ? int64_t{1} << 40 : std::getenv("EMPLACE_TEST_FULL") ? 13 : 997;
  const int64_t stride = number_in("EMPLACE_TEST_STRIDE").value_or(usual);
  Counts counts;
  for (int64_t seed = only.value_or(1); seed < only.value_or(1) + (only ? 1 : kGraphs); ++seed) {
    const RandomGraph g = random_graph(static_cast<uint64_t>(seed),
        {kNodes, {"/cpu:0", "/gpu:0", "/gpu:1"}, folder.string(), &op_catalogue()});
    faults::telling = fault && stride == usual;
    std::string wrong = check_steps(Life(g), g, counts);
    if (wrong.empty() && (only || std::getenv("EMPLACE_TEST_FULL")))
      wrong = check(g, stride, fault.value_or(seed * 31 % stride), counts);
    EXPECT_EQ(wrong, "") << "EMPLACE_TEST_SEED=" << seed;
  }
  std::filesystem::remove_all(folder);
  std::printf("%ld faults, %ld struck\n", static_cast<long>(counts.tried), static_cast<long>(counts.struck));
  EXPECT_GT(counts.struck, 0);
}

}  // namespace
}  // namespace emplace::testing
