// A card that is lost in the middle of work: whoever waits is told why, the process and the other devices
// go on. A process of its own, since nothing can be run on the card afterwards; skipped where there is none.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "all/cuda.h"
#include "emplace/emplace.h"

namespace emplace {
namespace {

// Launches a kernel that traps, as any process' faulty kernel would, in the context that all share.
class Trap {
 public:
  Trap() : driver_(dlopen("libcuda.so.1", RTLD_NOW)) {}
  void spring() {
    void *context = nullptr, *module = nullptr, *function = nullptr;
    ASSERT_EQ(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0), 0);
    ASSERT_EQ(call<int(void*)>("cuCtxSetCurrent")(context), 0);
    static constexpr char kText[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fall() { trap; ret; }\n";
    ASSERT_EQ(call<int(void**, const void*)>("cuModuleLoadData")(&module, kText), 0);
    ASSERT_EQ(
        call<int(void**, void*, const char*)>("cuModuleGetFunction")(&function, module, "fall"), 0);
    using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       void*, void**, void**);
    ASSERT_EQ(
        call<Launch>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
        0);
    call<int()>("cuCtxSynchronize")();  // fails: that is the point
  }

 private:
  template <class F>
  F* call(const char* name) { return reinterpret_cast<F*>(dlsym(driver_, name)); }
  void* driver_;
};

struct Chain {
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x, sum;
  explicit Chain(const char* device) {
    const Scope on = graph.device(device);
    x = placeholder(DType::kFloat, Shape{-1, 64}, "x");
    Output y = x;
    for (int i = 0; i < 20; ++i) y = tanh(y) + y * constant(0.25f);
    sum = reduce_sum(y, {0, 1});
  }
  std::string run(Session& s) {
    Tensor t(DType::kFloat, Shape{8, 64});
    for (int64_t i = 0; i < t.num_elements(); ++i)
      t.data<float>()[i] = 0.01f * static_cast<float>(i % 50);
    return s.run({{x, t}}, std::span(&sum, 1))[0].str();
  }
};

SessionOptions growing() {
  SessionOptions o;
  o.gpu_options.allow_growth = true;
  return o;
}

TEST(LostCard, EveryRunIsToldAndTheOtherDevicesGoOn) {
  if (!uses_cards({})) GTEST_SKIP() << "no card here";
  Chain on_card("/gpu:0"), on_cpu("/cpu:0");
  Session card(on_card.graph, growing()), cpu(on_cpu.graph, growing());
  const std::string want = on_cpu.run(cpu);
  on_card.run(card);
  std::atomic<int> told{0}, ran{0};
  std::atomic<bool> named{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100'000; ++i) try {
          on_card.run(card);
          ++ran;
        } catch (const Error& e) {
          const std::string text = e.what();
          if (text.find("launch failure") == std::string::npos &&
              text.find("GPU:0") == std::string::npos) {
            named = false;
            ADD_FAILURE() << text;
          }
          ++told;
          return;
        }
    });
  while (ran < 20) std::this_thread::yield();
  Trap().spring();
  for (auto& t : threads) t.join();
  EXPECT_EQ(told, 4);
  EXPECT_TRUE(named);
  // The session that used the card says so again, and ends; others run as before.
  EXPECT_THROW(on_card.run(card), Error);
  EXPECT_EQ(on_cpu.run(cpu), want);
  Chain later("/cpu:0");
  Session fresh(later.graph, growing());
  EXPECT_EQ(later.run(fresh), want);
  Chain pretended("/gpu:1");
  SessionOptions virtual_ones = growing();
  virtual_ones.virtual_gpus = 2;
  Session two(pretended.graph, virtual_ones);
  EXPECT_EQ(pretended.run(two), want);
  // Who asks for the card from now on hears that there is none.
  Chain again("/gpu:0");
  Session asks(again.graph, growing());
  EXPECT_THROW(again.run(asks), Error);
}

}  // namespace
}  // namespace emplace
