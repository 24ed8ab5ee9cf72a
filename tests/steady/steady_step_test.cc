// A warm step allocates nothing and touches no fresh page: counted for the whole process, whose
// malloc is this file's.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "emplace/emplace.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0}, frees{0};

void count(std::atomic<int64_t>& n) {
  if (counting.load(std::memory_order_relaxed)) n.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Everything ends up here: operator new calls malloc.
extern "C" {
void* malloc(size_t n) {
  count(allocations);
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  count(allocations);
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  count(allocations);
  return __libc_realloc(p, n);
}
void* memalign(size_t align, size_t n) {
  count(allocations);
  return __libc_memalign(align, n);
}
void* aligned_alloc(size_t align, size_t n) {
  count(allocations);
  return __libc_memalign(align, n);
}
int posix_memalign(void** p, size_t align, size_t n) {
  count(allocations);
  *p = __libc_memalign(align, n);
  return *p ? 0 : ENOMEM;
}
void free(void* p) {
  if (p) count(frees);
  __libc_free(p);
}
}
constexpr bool kCounts = true;
#else
constexpr bool kCounts = false;  // the sanitizer's malloc stays
#endif

namespace emplace {
namespace {

constexpr int kWarmUp = 200;
constexpr int kSteps = 200;   // a round
constexpr int kRounds = 20;  // the best one counts
constexpr int kColumns = 16;

struct Counts {
  int64_t allocations, frees, faults;
};

int64_t minor_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

template <class F>
Counts over_one_round(F step) {
  allocations = frees = 0;
  const int64_t before = minor_faults();
  counting = true;
  for (int i = 0; i < kSteps; ++i) step();
  counting = false;
  return {allocations, frees, minor_faults() - before};
}

// On a busy machine a thread may be away so long that a step takes a second instance: such a round
// is not steady. A step that allocates does so in every round.
template <class F>
Counts over_steady_steps(F step) {
  for (int i = 0; i < kWarmUp; ++i) step();
  Counts best = over_one_round(step);
  for (int i = 1; i < kRounds && best.allocations + best.frees + best.faults > 0; ++i) {
    const Counts c = over_one_round(step);
    if (c.allocations + c.frees + c.faults < best.allocations + best.frees + best.faults) best = c;
  }
  return best;
}

// logits = x w; w += sum of rows of x; fetches the logits.
struct Model {
  Graph graph;
  Output x, logits;
  Node* initializer;
  Node* update;

  Model(const char* first, const char* second) {
    const Scope in_graph = graph.as_default();
    x = placeholder(DType::kFloat, Shape{-1, kColumns}, "x");
    VariableNodes w;
    Output hidden;
    {
      const Scope on = graph.device(first);
      Tensor zeros(DType::kFloat, Shape{kColumns, kColumns});
      std::fill_n(zeros.data<float>(), zeros.num_elements(), 0.f);
      w = variable(zeros, "w");
      hidden = relu(matmul(x, w.value));
    }
    const Scope on = graph.device(second);
    logits = tanh(hidden * constant(0.5f)) + x;
    const Output step = reduce_sum(x * hidden, {0});
    Node* const before[] = {logits.node, step.node};
    const Scope later = graph.control_dependencies(before);
    Tensor zeros(DType::kFloat, Shape{kColumns, kColumns});
    std::fill_n(zeros.data<float>(), zeros.num_elements(), 0.f);
    update = assign_add(w.ref, step * constant(0.01f) + constant(zeros)).node;
    initializer = w.initializer;
  }
};

void expect_steady(const char* first, const char* second) {
  if (!kCounts) GTEST_SKIP() << "a sanitizer's malloc is counted by nobody";
  Model m(first, second);
  SessionOptions o;
  o.virtual_gpus = 2;
  o.virtual_gpu_memory = 32 << 20;
  Session session(m.graph, o);
  session.run(m.initializer);
  const Callable step = session.make_callable(std::span(&m.x, 1), std::span(&m.logits, 1),
                                              std::span(&m.update, 1));
  Tensor batch(DType::kFloat, Shape{32, kColumns});
  for (int64_t i = 0; i < batch.num_elements(); ++i)
    batch.data<float>()[i] = static_cast<float>(i % 7) / 8;
  std::vector<Tensor> fetched;
  const Counts c = over_steady_steps([&] { step.run(std::span(&batch, 1), fetched); });
  EXPECT_EQ(fetched[0].shape(), (Shape{32, kColumns}));
  EXPECT_EQ(c.allocations, 0);
  EXPECT_EQ(c.frees, 0);
  EXPECT_EQ(c.faults, 0);
}

TEST(SteadyStep, AllocatesNothingOnTheCpu) { expect_steady("/cpu:0", "/cpu:0"); }
TEST(SteadyStep, AllocatesNothingAcrossTwoVirtualGpus) { expect_steady("/gpu:0", "/gpu:1"); }

TEST(SteadyStep, TheCounterCounts) {
  if (!kCounts) GTEST_SKIP() << "a sanitizer's malloc is counted by nobody";
  std::vector<Tensor> kept;
  kept.reserve(2 * kRounds * kSteps);
  const Counts c = over_steady_steps([&] { kept.emplace_back(DType::kFloat, Shape{8}); });
  EXPECT_GE(c.allocations, kSteps);
}

}  // namespace
}  // namespace emplace
